"""A message on its way to an award, untouched, with its origin and its attempts; and its form on the retry queue."""

import base64
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple, NotRequired

import orjson
from pydantic import AwareDatetime, FailFast, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside, Unavailable
from abacus.core.ids import PARTNERS
from abacus.core.sources import STREAM, source_of_key
from abacus.platform.validation import unreadable


class PartnerRequest(NamedTuple):
    """The key and the rate card of an award that a partner requested and Abacus computes."""

    key: str
    card: str

    @property
    def origin(self) -> str:
        """The origin of its message. Neither a key nor a card's name holds a space."""
        return f"{self.key} by {self.card}"

    @classmethod
    def of(cls, origin: str) -> "PartnerRequest | None":
        if not origin.startswith(PARTNERS):
            return None
        key, by, card = origin.partition(" by ")
        return cls(key, card) if by else None


class SourceMessage(NamedTuple):
    """`attempt` counts the failures so far; the first of them gave `first_failed_at`, the last gave `cause`."""

    body: bytes
    origin: str
    attempt: int = 0
    first_failed_at: datetime | None = None
    cause: str = ""

    @property
    def partner_request(self) -> PartnerRequest | None:
        """The request of the partner that sent the message; None for a message of the stream."""
        return PartnerRequest.of(self.origin)

    @property
    def dependency(self) -> str:
        """The dependency that was down at the last failure."""
        return self.cause.partition(":")[0]

    @property
    def source(self) -> str:
        """The source of the award that it comes to."""
        request = self.partner_request
        return STREAM if request is None else source_of_key(request.key) or STREAM

    def failed(self, error: Unavailable, now: datetime) -> "SourceMessage":
        return self._replace(
            attempt=self.attempt + 1,
            first_failed_at=self.first_failed_at or now,
            cause=f"{error.dependency}: {error.detail}",
        )


class RetryMessage(TypedDict):
    """One untouched transaction on the retry queue: as text, or in base64 when SQS does not carry the text."""

    transaction: NotRequired[str]
    transaction_base64: NotRequired[str]
    origin: str
    attempt: Annotated[int, Field(ge=0, le=1_000_000)]
    first_failed_at: AwareDatetime | None
    reason: str


class RetryEnvelope(TypedDict):
    """The body of a message on the retry queue. `by` and `mac` are there where producers sign envelopes."""

    v: Literal[1]
    retries: Annotated[list[RetryMessage], FailFast()]  # one fault sets all of them aside
    by: NotRequired[str]
    mac: NotRequired[str]


# SQS refuses the last two; the others would each take six characters of JSON.
_NOT_CARRIED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

ENVELOPE: Final[TypeAdapter[RetryEnvelope]] = TypeAdapter(RetryEnvelope)


def encode_retry(message: SourceMessage) -> bytes:
    text = _as_text(message.body)
    body = (
        {"transaction": text}
        if text is not None
        else {"transaction_base64": base64.b64encode(message.body).decode("ascii")}
    )
    return orjson.dumps(
        {
            **body,
            "origin": message.origin,
            "attempt": message.attempt,
            "first_failed_at": message.first_failed_at,
            "reason": message.cause,
        }
    )


def decode_retries(body: bytes | str) -> Sequence[SourceMessage]:
    """The messages of a retry envelope. Raises `SetAside` when it cannot be read."""
    try:
        envelope = ENVELOPE.validate_json(body)
    except ValidationError as error:
        raise unreadable("a retry envelope", error) from None
    try:
        return [_message(retry) for retry in envelope["retries"]]
    except (KeyError, ValueError) as error:
        raise SetAside(Reason.INVALID, f"not a retry envelope: no transaction, or broken base64: {error}") from None


def _message(retry: RetryMessage) -> SourceMessage:
    if "transaction" in retry:
        body = retry["transaction"].encode()
    else:
        body = base64.b64decode(retry["transaction_base64"], validate=True)
    return SourceMessage(body, retry["origin"], retry["attempt"], retry["first_failed_at"], retry["reason"])


def _as_text(body: bytes) -> str | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if _NOT_CARRIED.search(text) else text
