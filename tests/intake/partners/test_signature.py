"""Signatures of requests: the parts that they cover, the answer to other signers, and the example of the guide."""

import contextlib
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.intake.partners.decide.signature import BadSignature, SignedRequest, check_signature, sign
from tests.support.paths import DOCS

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_signature_as_others_compute_it() -> None:
    """Fixed, because partners have written it in other languages."""
    assert sign("abs_secret", "post", "/v1/awards?x=1", b"{}", key="order-1", timestamp=1780272000) == (
        "v2=d1fc4c5d75238b8cf57466a85778bb53acac96a071c2c3889933f0c1041eb87d"
    )


STAMP = int(NOW.timestamp())
SIGNED = SignedRequest(
    "POST",
    "/v1/awards?x=1",
    "order-1",
    b"{}",
    str(STAMP),
    sign("s", "POST", "/v1/awards?x=1", b"{}", key="order-1", timestamp=STAMP),
)


def test_a_signature_that_holds() -> None:
    for late in (timedelta(0), timedelta(minutes=5), timedelta(minutes=-5)):
        check_signature("s", SIGNED, NOW + late)


@pytest.mark.parametrize(
    ("request_", "late"),
    [
        (SIGNED, timedelta(minutes=5, seconds=1)),
        (SIGNED, timedelta(minutes=-5, seconds=-1)),
        (SIGNED._replace(method="PUT"), timedelta(0)),
        (SIGNED._replace(path="/v1/quotes?x=1"), timedelta(0)),
        (SIGNED._replace(path="/v1/awards?x=2"), timedelta(0)),
        (SIGNED._replace(path="/v1/awards"), timedelta(0)),
        (SIGNED._replace(idempotency_key="order-2"), timedelta(0)),
        (SIGNED._replace(idempotency_key=""), timedelta(0)),
        (SIGNED._replace(body=b"{ }"), timedelta(0)),
        (SIGNED._replace(timestamp=str(STAMP + 1)), timedelta(0)),
        (SIGNED._replace(timestamp=None), timedelta(0)),
        (SIGNED._replace(timestamp="soon"), timedelta(0)),
        (SIGNED._replace(timestamp="9" * 400), timedelta(0)),
        (SIGNED._replace(signature=None), timedelta(0)),
        (SIGNED._replace(signature="v2=é"), timedelta(0)),
        (SIGNED._replace(signature=""), timedelta(0)),
    ],
)
def test_a_signature_that_does_not_hold(request_: SignedRequest, late: timedelta) -> None:
    with pytest.raises(BadSignature):
        check_signature("s", request_, NOW + late)


def test_an_old_signer_is_told_what_changed() -> None:
    """A signature of version 1, as it was right once."""
    v1 = "v1=357db198a4d987186ca303d17bc6dc8d069431c4815c8cb1e11c92ca4a475cf1"
    with pytest.raises(
        BadSignature, match=r"v1= .* five lines .* Idempotency-Key .* v2=; docs/partners/partners\.md#signed-requests"
    ):
        check_signature("abs_secret", SIGNED._replace(signature=v1), NOW)


@pytest.mark.parametrize("header", ["idempotency-key", "abacus-timestamp", "abacus-signature"])
def test_a_signed_header_that_comes_twice_is_refused(header: str) -> None:
    """Two readers could take one each: the signature the first, the route the second."""
    headers = [("idempotency-key", "order-1"), ("abacus-timestamp", str(STAMP)), ("abacus-signature", "v2=")]
    assert SignedRequest.of("POST", "/", b"", headers).idempotency_key == "order-1"
    with pytest.raises(BadSignature, match="2 times"):
        SignedRequest.of("POST", "/", b"", [*headers, (header, "other")])


def test_the_example_of_the_guide_signs_as_the_api_does() -> None:
    section = (
        (DOCS / "partners/partners.md").read_text("utf-8").partition("## Signed requests")[2].partition("\n## ")[0]
    )
    example = re.search(r"```python\n([\s\S]*?)```\n\n    (v2=[0-9a-f]{64})\n", section)
    lines = re.search(r"these are\n\n((?:    .*\n){5})", section)
    assert example is not None
    assert lines is not None
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(example[1], names)  # noqa: S102  # what the documentation shows is to work
    method, path, key, digest, timestamp = re.sub(r"^ {4}", "", lines[1], flags=re.MULTILINE).splitlines()
    assert printed.getvalue().strip() == example[2]
    assert example[2] == sign("abs_example", method, path, names["body"], key=key, timestamp=int(timestamp))
    without_key = sign("abs_example", "GET", path, b"", key="", timestamp=1)
    assert names["signature"]("abs_example", "GET", path, "", b"", 1) == without_key
    assert re.search(rf"^    {digest}$", section, re.MULTILINE)
