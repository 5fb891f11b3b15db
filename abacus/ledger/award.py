"""An award: what the queue carries and the ledger posts. Pure: the value, its JSON, and its checks."""

import json
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.core.points import MAX_POINTS
from abacus.validation import Day, Moment, first_fault

VERSION: Final = 1


class Kind(StrEnum):
    """What a transfer does to an account."""

    EARN = "earn"
    EXPIRE = "expire"
    ADJUST = "adjust"


class Award(NamedTuple):
    """Points for a member, under a key that can be posted once.

    A named tuple, because millions pass: it costs a third of a frozen dataclass. `explanation` is JSON text and is
    carried as it was first written.
    """

    key: str
    member_id: str
    program: str
    country: str
    kind: Kind
    points: int
    occurred_at: datetime
    expires_on: date
    activity: bool
    fingerprint: str
    explanation: bytes


class AwardMessage(TypedDict):
    """One award as it stands in an envelope."""

    key: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    kind: Literal[Kind.EARN]
    points: Annotated[int, Field(strict=True, ge=0, le=MAX_POINTS)]
    occurred_at: Moment
    expires_on: Day
    activity: Annotated[bool, Field(strict=True)]
    fingerprint: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]
    explanation: dict[str, Any]


class AwardEnvelope(TypedDict):
    """The body of a message on the award queue."""

    v: Literal[1]
    awards: list[AwardMessage]


class BadAward(NamedTuple):
    """An award in an envelope that cannot be posted, whole, with its fault."""

    body: bytes
    fault: SetAside


ENVELOPE: Final[TypeAdapter[AwardEnvelope]] = TypeAdapter(AwardEnvelope)
_AWARD: Final[TypeAdapter[AwardMessage]] = TypeAdapter(AwardMessage)


def encode_award(award: Award) -> bytes:
    """The award as JSON; the explanation's text goes in untouched."""
    return orjson.dumps(
        {
            "key": award.key,
            "member_id": award.member_id,
            "program": award.program,
            "country": award.country,
            "kind": award.kind,
            "points": award.points,
            "occurred_at": award.occurred_at,
            "expires_on": award.expires_on,
            "activity": award.activity,
            "fingerprint": award.fingerprint,
            "explanation": orjson.Fragment(award.explanation),
        }
    )


def decode_envelope(body: bytes | str) -> tuple[list[Award], list[BadAward]]:
    """The awards of an envelope, and apart from them those that are bad. A bad one never hides its neighbours.

    Raises `SetAside` when the envelope itself cannot be read.
    """
    try:
        return [_award(message) for message in ENVELOPE.validate_json(body)["awards"]], []
    except (ValidationError, SetAside):
        return _decode_one_by_one(body)


def _decode_one_by_one(body: bytes | str) -> tuple[list[Award], list[BadAward]]:
    awards: list[Award] = []
    bad: list[BadAward] = []
    for item in _items(body):
        text = json.dumps(item).encode()
        try:
            awards.append(_award(_AWARD.validate_json(text)))
        except ValidationError as error:
            bad.append(BadAward(text, SetAside(Reason.INVALID, first_fault(error))))
        except SetAside as fault:
            bad.append(BadAward(text, fault))
    return awards, bad


def _items(body: bytes | str) -> list[Any]:
    try:
        document = json.loads(body.encode() if isinstance(body, str) else body)
    except (ValueError, RecursionError) as error:
        raise SetAside(Reason.UNDECODABLE, f"not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("awards"), list):
        raise SetAside(Reason.INVALID, "not an award envelope: no list of awards")
    if document.get("v") != VERSION:
        raise SetAside(Reason.UNSUPPORTED, f"envelope version {document.get('v')!r}; this version reads {VERSION}")
    awards: list[Any] = document["awards"]
    return awards


def _award(message: AwardMessage) -> Award:
    try:
        explanation = orjson.dumps(message["explanation"])
        if b"null" in explanation:  # which orjson also writes for what is no number: that must not be kept
            json.dumps(message["explanation"], allow_nan=False)
    except (ValueError, orjson.JSONEncodeError) as error:
        raise SetAside(Reason.INVALID, f"explanation: {error}") from error
    return Award(**{**message, "explanation": explanation})  # type: ignore[arg-type]  # the two share their fields
