"""A producer vouches for an envelope: the last members of its JSON are the name of a key and a code over all before.

The code is an HMAC-SHA256 over the bytes of the body up to it, so it is checked before anything is parsed. A key
vouches only for the sources that its producer has points from.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.core.errors import Reason, Refused, SetAside
from abacus.core.sources import (
    CAMPAIGN_PREFIX,
    EXCHANGE_PREFIX,
    JOURNEY_PREFIX,
    OFFER_PREFIX,
    PARTNER_PREFIX,
    REWARD_PREFIX,
    STREAM,
)

LEAST_BYTES: Final = 32  # of a secret

_MAC: Final = ',"mac":"'
_BY: Final = ',"by":"'
_END: Final = '"}'
_MAC_DIGITS: Final = 64
_KEY: Final = re.compile(r"(?P<producer>[a-z]+)\.(?P<id>[A-Za-z0-9-]{1,32})=(?P<secret>[A-Za-z0-9+/=]+)")


class Producer(StrEnum):
    """Who puts envelopes on the award queue and the retry queue."""

    CALCULATOR = "calculator"
    RETRIER = "retrier"
    API = "api"
    CAMPAIGNER = "campaigner"
    EXCHANGER = "exchanger"
    OPERATOR = "operator"  # a person, by replaying from the quarantine

    def vouches_for(self, source: str) -> bool:
        """Whether this producer may say that points come from that source."""
        return source.startswith(_SOURCES[self])


_SOURCES: Final[Mapping[Producer, tuple[str, ...]]] = {
    Producer.CALCULATOR: (STREAM,),
    Producer.RETRIER: (STREAM, PARTNER_PREFIX),
    Producer.API: (PARTNER_PREFIX,),
    Producer.CAMPAIGNER: (CAMPAIGN_PREFIX, OFFER_PREFIX, REWARD_PREFIX, JOURNEY_PREFIX),
    Producer.EXCHANGER: (EXCHANGE_PREFIX,),
    Producer.OPERATOR: ("",),
}


class EnvelopeKey(NamedTuple):
    """A producer's key; the name is in the envelope, the secret is not."""

    producer: Producer
    name: str
    secret: bytes


def read_keys(text: str) -> tuple[EnvelopeKey, ...]:
    """Keys as `api.1=BASE64,api.2=BASE64`: a producer and an id of one's own. Raises `ValueError`."""
    keys = tuple(_key(each.strip()) for each in text.split(",") if each.strip())
    if len({key.name for key in keys}) < len(keys):
        raise ValueError("each key needs a name of its own")
    return keys


def _key(text: str) -> EnvelopeKey:
    form = _KEY.fullmatch(text)
    if form is None or form["producer"] not in set(Producer):
        raise ValueError(f"keys of the form PRODUCER.ID=BASE64 are needed; a producer is {', '.join(Producer)}")
    try:
        secret = base64.b64decode(form["secret"], validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) < LEAST_BYTES:
        raise ValueError(f"a secret is {LEAST_BYTES} bytes or more, in base64")
    return EnvelopeKey(Producer(form["producer"]), f"{form['producer']}.{form['id']}", secret)


class Signer:
    """Signs envelopes with one key."""

    def __init__(self, key: EnvelopeKey) -> None:
        self._key = key

    def sign(self, body: str) -> str:
        """The envelope, a JSON object, with the name of the key and the code as its last members."""
        signed = f'{body[:-1]}{_BY}{self._key.name}"'
        return f"{signed}{_MAC}{_code(self._key, signed)}{_END}"


def signer_for(keys: Sequence[EnvelopeKey], producer: Producer) -> Signer | None:
    """The signer of that producer, by the last of its keys; None where there are no keys at all. Raises `Refused`."""
    if not keys:
        return None
    own = [key for key in keys if key.producer is producer]
    if not own:
        raise Refused(f"ABACUS_ENVELOPE_KEYS has no key of the {producer}, who has to sign envelopes")
    return Signer(own[-1])


class Verifier:
    """Tells who vouches for an envelope. Without keys nobody has to."""

    def __init__(self, keys: Iterable[EnvelopeKey] = ()) -> None:
        self._keys = {key.name: key for key in keys}

    def producer_of(self, body: str) -> Producer | None:
        """None where nobody has to vouch. Raises `SetAside` for a body that no known key vouches for."""
        if not self._keys:
            return None
        signed, mac, rest = body.rpartition(_MAC)
        if not mac or len(rest) != _MAC_DIGITS + len(_END):
            raise SetAside(Reason.UNVOUCHED, "the envelope is not signed")
        name = signed.rpartition(_BY)[2][:-1]
        key = self._keys.get(name)
        if key is None:
            raise SetAside(Reason.UNVOUCHED, f"no key is called {name[:80]!r}")
        if not hmac.compare_digest(f"{_code(key, signed)}{_END}".encode(), rest.encode("utf-8", "replace")):
            raise SetAside(Reason.UNVOUCHED, f"the signature with {name} does not hold")
        return key.producer


def check_vouched(producer: Producer, sources: Iterable[str]) -> None:
    """Raises `SetAside` where the producer may not vouch for one of the sources."""
    for source in sources:
        if not producer.vouches_for(source):
            raise SetAside(Reason.UNVOUCHED, f"the {producer} does not vouch for {source}")


def _code(key: EnvelopeKey, signed: str) -> str:
    return hmac.digest(key.secret, signed.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
