"""Keys, and the form of a signed envelope."""

import base64
import json

import pytest

from abacus.core.errors import Refused
from abacus.core.signature import EnvelopeKey, Producer, Signer, Verifier, read_keys, signer_for

SECRET = bytes(range(32))
TEXT = base64.b64encode(SECRET).decode()
KEY = EnvelopeKey(Producer.API, "api.1", SECRET)


def test_a_signed_envelope_as_others_make_it() -> None:
    """Fixed, because an envelope may wait for days and be checked by another version."""
    signed = Signer(KEY).sign('{"v":1,"awards":[]}')
    assert signed == (
        '{"v":1,"awards":[],"by":"api.1","mac":"0fa93e7ab53a95db98184faf0cce2eda68e6824fc08fa0581e1aab674962a1f7"}'
    )
    assert json.loads(signed).keys() == {"v", "awards", "by", "mac"}
    assert Verifier([KEY]).producer_of(signed) is Producer.API


def test_keys_as_they_are_set() -> None:
    assert read_keys("") == ()
    assert read_keys(f" api.1={TEXT}, calculator.2026-11={TEXT},") == (
        KEY,
        EnvelopeKey(Producer.CALCULATOR, "calculator.2026-11", SECRET),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"notifier.1={TEXT}", "a producer is calculator, retrier, api, campaigner, exchanger, operator"),
        (f"api={TEXT}", "of the form PRODUCER.ID=BASE64"),
        ("api.1=", "of the form"),
        ("api.1=YWJj", "32 bytes or more"),
        ("api.1=abc", "32 bytes or more"),
        (f"api.1={TEXT},api.1={TEXT}", "a name of its own"),
    ],
)
def test_what_is_no_key(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_keys(text)


def test_the_last_key_of_a_producer_signs() -> None:
    keys = read_keys(f"api.1={TEXT},calculator.1={TEXT},api.2={TEXT}")
    signer = signer_for(keys, Producer.API)
    assert signer is not None
    assert '"by":"api.2"' in signer.sign("{}x}")
    assert signer_for((), Producer.API) is None
    with pytest.raises(Refused, match="ABACUS_ENVELOPE_KEYS has no key of the retrier"):
        signer_for(keys, Producer.RETRIER)


@pytest.mark.parametrize(
    ("producer", "source", "vouches"),
    [
        (Producer.CALCULATOR, "stream", True),
        (Producer.CALCULATOR, "partner:acme", False),
        (Producer.RETRIER, "partner:acme", True),
        (Producer.RETRIER, "person:ann", False),
        (Producer.API, "stream", False),
        (Producer.API, "partner:acme", True),
        (Producer.API, "campaign:1", False),
        (Producer.OPERATOR, "stream", True),
    ],
)
def test_the_sources_that_a_producer_vouches_for(producer: Producer, source: str, *, vouches: bool) -> None:
    assert producer.vouches_for(source) is vouches
