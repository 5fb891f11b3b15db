"""The award envelope: awards as the body of a message on the award queue, written and read."""

import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired

import orjson
from pydantic import FailFast, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN, TRANSACTIONS
from abacus.core.points import MAX_POINTS
from abacus.core.sources import SOURCE_PATTERN, partner_of, source_of_key
from abacus.ledger.types.award_columns import COUNTRY_PATTERN, FINGERPRINT_PATTERN, begins_there, read_columns
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.json_names import check_names
from abacus.platform.sqs.compressed_envelope import is_compressed, unpack
from abacus.platform.validation import Day, Moment, first_fault
from abacus.pricing.explanation.text import TRANSACTION_FIELD
from abacus.pricing.explanation.types import Document


class Transacted(NamedTuple):
    """The transaction that an award under another key is for: the key of the transaction, and the fingerprint that the
    stream would send with it.
    """

    key: str
    fingerprint: str


class Award(NamedTuple):
    """Points for a member, under a key that can be posted once.

    A named tuple, because millions pass: it costs a third of a frozen dataclass. `explanation` is JSON text and is
    carried as it was first written; `source` says where the points come from (`abacus.core.sources`). With `lifetime`
    the points lapse after `expires_on`, whatever the member does. An award for a `transaction` claims its key too.
    Points with `vests_on` are pending until that day begins, at `vests_at`.
    """

    key: str
    member_id: str
    program: str
    country: str
    kind: TransferKind
    points: int
    occurred_at: datetime
    expires_on: date
    activity: bool
    fingerprint: str
    explanation: bytes
    source: str
    lifetime: bool = False
    transaction: Transacted | None = None
    vests_on: date | None = None
    vests_at: datetime | None = None


VERSION: Final = 1  # of an envelope whose awards stand in it; `compressed_envelope` has version 2
MOST_AWARDS: Final = 1000  # more than twice as many as any envelope of ours has
_MOST_MEMBERS: Final = 100  # every fault of an award keeps all of its members


_Fingerprint = Annotated[str, StringConstraints(pattern=FINGERPRINT_PATTERN)]


class TransactedMessage(TypedDict):
    """The transaction of a partner's award."""

    key: Annotated[str, StringConstraints(pattern=rf"^{TRANSACTIONS}[^\x00-\x1f\x7f]{{1,396}}$")]
    fingerprint: _Fingerprint


class AwardMessage(TypedDict):
    """One award as it stands in an envelope."""

    key: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    country: Annotated[str, StringConstraints(pattern=COUNTRY_PATTERN)]
    kind: Literal[TransferKind.EARN, TransferKind.EXCHANGE_IN]
    points: Annotated[int, Field(strict=True, ge=0, le=MAX_POINTS)]
    occurred_at: Moment
    expires_on: Day
    activity: Annotated[bool, Field(strict=True)]
    fingerprint: _Fingerprint
    explanation: Document
    source: NotRequired[Annotated[str, StringConstraints(pattern=SOURCE_PATTERN)]]
    lifetime: NotRequired[Annotated[bool, Field(strict=True)]]
    transaction: NotRequired[TransactedMessage]
    vests_on: NotRequired[Day]
    vests_at: NotRequired[Moment]


class AwardEnvelope(TypedDict):
    """The body of a message on the award queue. `by` and `mac` are there where producers sign envelopes."""

    v: Literal[1]
    awards: Annotated[list[AwardMessage], FailFast()]  # after a fault they are read one by one
    by: NotRequired[str]
    mac: NotRequired[str]


class BadAward(NamedTuple):
    """An award in an envelope that cannot be posted, whole, with its fault."""

    body: bytes
    fault: SetAside


ENVELOPE: Final[TypeAdapter[AwardEnvelope]] = TypeAdapter(AwardEnvelope)


_AWARD: Final[TypeAdapter[AwardMessage]] = TypeAdapter(AwardMessage)


def encode_award(award: Award) -> bytes:
    """The award as JSON; the explanation's text goes in untouched."""
    message: dict[str, object] = {
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
        "source": award.source,
    }
    if award.lifetime:
        message["lifetime"] = True
    if award.transaction is not None:
        message["transaction"] = award.transaction._asdict()
    if award.vests_on is not None:
        message |= {"vests_on": award.vests_on, "vests_at": award.vests_at}
    return orjson.dumps(message)


class Opened(NamedTuple):
    """An envelope's awards, the JSON of its reversals, and its bad items: a bad one never hides its neighbours."""

    awards: list[Award]
    reversals: list[bytes]
    bad: list[BadAward]


def decode_envelope(body: bytes | str) -> Opened:
    """Raises `SetAside` when the envelope itself cannot be read, can be read in two ways, or is not what it says."""
    try:
        text = body.encode() if isinstance(body, str) else body
    except UnicodeEncodeError as error:
        raise SetAside(Reason.UNDECODABLE, f"not JSON: {error}") from None
    if not is_compressed(text):
        return _decode(text)
    within, said = unpack(text)
    opened = _decode(within)
    count = len(opened.awards) + len(opened.reversals) + len(opened.bad)
    if count != said:
        raise SetAside(Reason.INVALID, f"{count} awards; the envelope says that it has {said}")
    return opened


def _decode(text: bytes) -> Opened:
    columns = read_columns(text)
    if columns is None:
        return decode_naming_faults(text)
    return Opened(list(map(Award, *columns)), [], [])


def decode_naming_faults(text: bytes) -> Opened:
    """Of an envelope that is not compressed, whatever it is. Raises `SetAside`."""
    try:
        envelope = ENVELOPE.validate_json(text)
        awards = [_award(message) for message in envelope["awards"]]
    except (ValidationError, SetAside):
        check_names(text)
        return _decode_one_by_one(text)
    if text.count(b",") != _least_commas(envelope, awards) or b"\\" in text:
        check_names(text)
    return Opened(awards, [], [])


def _least_commas(envelope: AwardEnvelope, awards: Sequence[Award]) -> int:
    """Of an envelope with these awards. Each further member, and each that stands twice, adds one."""
    inside = sum(len(message) - 1 for message in envelope["awards"])
    explained = sum(award.explanation.count(b",") for award in awards)
    return len(envelope) - 1 + max(0, len(awards) - 1) + inside + explained


def _decode_one_by_one(body: bytes) -> Opened:
    awards, reversals, bad = opened = Opened([], [], [])
    for item in _items(body):
        try:
            text = json.dumps(item).encode()
        except RecursionError:
            raise SetAside(Reason.UNDECODABLE, "not JSON that can be written again: it is nested too deeply") from None
        if isinstance(item, dict) and len(item) > _MOST_MEMBERS:
            fault = SetAside(Reason.INVALID, f"{len(item)} members; an award has at most {_MOST_MEMBERS}")
            bad.append(BadAward(text, fault))
            continue
        if isinstance(item, dict) and item.get("kind") == TransferKind.REVERSE:
            reversals.append(text)
            continue
        try:
            awards.append(_award(_AWARD.validate_json(text)))
        except ValidationError as error:
            bad.append(BadAward(text, SetAside(Reason.INVALID, first_fault(error))))
        except SetAside as fault:
            bad.append(BadAward(text, fault))
    return opened


def _items(body: bytes) -> list[Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise SetAside(Reason.UNDECODABLE, f"not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("awards"), list):
        raise SetAside(Reason.INVALID, "not an award envelope: no list of awards")
    if document.get("v") != VERSION:
        version = repr(document.get("v"))[:20]
        raise SetAside(Reason.UNSUPPORTED, f"envelope version {version}; this version reads 1 and 2")
    awards: list[Any] = document["awards"]
    if len(awards) > MOST_AWARDS:
        raise SetAside(Reason.INVALID, f"{len(awards)} awards; an envelope has at most {MOST_AWARDS}")
    return awards


def _award(message: AwardMessage) -> Award:
    try:
        explanation = orjson.dumps(message["explanation"])
        if b"null" in explanation:  # orjson also writes null for NaN and infinity: that must not be kept
            json.dumps(message["explanation"], allow_nan=False)
    except (ValueError, orjson.JSONEncodeError) as error:
        raise SetAside(Reason.INVALID, f"explanation: {error}") from error
    # An envelope that was packed before awards carried their source says it by its keys.
    implied = source_of_key(message["key"])
    source = message.get("source", implied)
    if source is None:
        raise SetAside(Reason.INVALID, f"source: missing, and the key {message['key']!r} implies none")
    if implied is not None and source != implied:
        raise SetAside(Reason.INVALID, f"source: {source!r}, but the key {message['key']!r} is one of {implied!r}")
    award = Award(**{**message, "explanation": explanation, "source": source})  # type: ignore[arg-type]  # the same fields
    if award.vests_on is not None or award.vests_at is not None:
        _check_vesting(award)
    return award if award.transaction is None else _with_transaction(award, message)


def _check_vesting(award: Award) -> None:
    """Raises `SetAside` where the day does not begin at that time anywhere."""
    on, at = award.vests_on, award.vests_at
    if on is None or at is None:
        raise SetAside(Reason.INVALID, "vests_on and vests_at: one is there without the other")
    if not begins_there(on, at):
        raise SetAside(Reason.INVALID, f"vests_at: {at.isoformat()}, when {on} begins nowhere")


def _with_transaction(award: Award, message: AwardMessage) -> Award:
    """Partners' keys do not name the transaction, so their explanations do. Raises `SetAside` where that is amiss."""
    transaction = Transacted(**message["transaction"])
    if partner_of(award.source) is None:
        raise SetAside(Reason.INVALID, f"transaction: {award.key!r} is no partner's key")
    if message["explanation"].get(TRANSACTION_FIELD) != transaction.key:
        raise SetAside(Reason.INVALID, f"transaction: the explanation is not one of {transaction.key!r}")
    return award._replace(transaction=transaction)
