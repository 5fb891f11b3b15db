"""Signatures as Standard Webhooks says, and as the documentation shows a receiver how to verify them."""

import base64
import re
import time
from typing import Any

import pytest

from abacus.platform.delivery.decide.signature import (
    BadSignature,
    check_signature,
    new_secret,
    sign,
    signed_headers,
)
from tests.support.paths import DOCS

# Published by the standard's reference libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_signature() -> None:
    assert sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}') == SIGNATURE


def test_the_receiver_of_the_documentation_verifies_it() -> None:
    text = (DOCS / "partners/partners.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def verified" in block]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # the documentation's example has to work
    body, now = b'{"type":"award.posted"}', int(time.time())
    headers = signed_headers([new_secret(), SECRET], "msg_1", now, body)
    assert names["verified"](SECRET, headers, body)
    assert not names["verified"](SECRET, headers, body + b" ")
    assert not names["verified"](new_secret(), headers, body)
    assert not names["verified"](SECRET, signed_headers([SECRET], "msg_1", now - 400, body), body)


def test_two_secrets_sign_side_by_side() -> None:
    other = new_secret()
    headers = signed_headers([other, SECRET], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-signature"].split(" ")[1] == SIGNATURE


def test_a_secret_is_random_and_of_the_length_the_standard_asks_for() -> None:
    made = {new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64 for secret in made)


NOW_S = 1614265330.0
HEADERS = signed_headers([SECRET], "msg_1", int(NOW_S), b"{}")


def test_a_signature_is_checked() -> None:
    check_signature([new_secret(), SECRET], HEADERS, b"{}", NOW_S + 300)
    check_signature([SECRET], {**HEADERS, "webhook-signature": f"v1,AAAA {HEADERS['webhook-signature']}"}, b"{}", NOW_S)


@pytest.mark.parametrize(
    ("headers", "body", "now_s"),
    [
        (HEADERS, b"{ }", NOW_S),
        (HEADERS, b"{}", NOW_S + 301),
        (HEADERS, b"{}", NOW_S - 301),
        ({**HEADERS, "webhook-id": "msg_2"}, b"{}", NOW_S),
        ({**HEADERS, "webhook-timestamp": str(int(NOW_S) + 1)}, b"{}", NOW_S),
        ({**HEADERS, "webhook-timestamp": "1614265330.0"}, b"{}", NOW_S),
        ({**HEADERS, "webhook-timestamp": "9" * 5000}, b"{}", NOW_S),
        ({**HEADERS, "webhook-signature": "v1,\xe9"}, b"{}", NOW_S),
        ({"webhook-id": "msg_1"}, b"{}", NOW_S),
        ({}, b"{}", NOW_S),
    ],
)
def test_a_signature_that_does_not_hold(headers: dict[str, str], body: bytes, now_s: float) -> None:
    with pytest.raises(BadSignature):
        check_signature([SECRET], headers, body, now_s)
