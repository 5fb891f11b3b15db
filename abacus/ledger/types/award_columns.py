"""The awards of an envelope, read together and checked column by column: the quick way for what our own writers write.

It takes less than the reader that names faults, and nothing that this would refuse or read as another value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal, NamedTuple, TypeVar

import msgspec
import orjson
from msgspec import UNSET, UnsetType

from abacus.core.ids import EVENTS, ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN, TRANSACTIONS
from abacus.core.points import MAX_POINTS
from abacus.core.sources import SOURCE_PATTERN, STREAM, source_of_key
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.quick_texts import all_match, day_of, lines, moment_of, moments_of

COUNTRY_PATTERN: Final = r"^[A-Z]{2}$"
FINGERPRINT_PATTERN: Final = r"^[0-9a-f]{16,64}$"
_FURTHEST_ZONE: Final = timedelta(hours=14)  # the clocks of no country are further from UTC

_KEYS: Final = lines(KEY_PATTERN)
_IDS: Final = lines(ID_PATTERN)
_PROGRAMS: Final = lines(PROGRAM_PATTERN)
_COUNTRIES: Final = lines(COUNTRY_PATTERN)
_FINGERPRINTS: Final = lines(FINGERPRINT_PATTERN)
_SOURCES: Final = lines(SOURCE_PATTERN)
_KINDS: Final[Mapping[str, TransferKind]] = {each: each for each in (TransferKind.EARN, TransferKind.EXCHANGE_IN)}
_OF_STREAM: Final = (TRANSACTIONS, EVENTS)
_FLAT: Final = 300  # bytes; what is nested more deeply than any reader goes is longer

Value = TypeVar("Value")


class _Award(msgspec.Struct, gc=False):
    key: str
    member_id: str
    program: str
    country: str
    kind: str
    points: int
    occurred_at: str
    expires_on: str
    activity: bool
    fingerprint: str
    explanation: msgspec.Raw
    source: str
    lifetime: UnsetType | bool = UNSET
    vests_on: UnsetType | str = UNSET
    vests_at: UnsetType | str = UNSET


class _Envelope(msgspec.Struct, gc=False):
    v: Literal[1]
    awards: list[_Award]
    by: UnsetType | str = UNSET
    mac: UnsetType | str = UNSET


class Columns(NamedTuple):
    """A column for each field of an award, in their order, but for the transaction of a partner's."""

    key: Sequence[str]
    member_id: Sequence[str]
    program: Sequence[str]
    country: Sequence[str]
    kind: Sequence[TransferKind]
    points: Sequence[int]
    occurred_at: Sequence[datetime]
    expires_on: Sequence[date]
    activity: Sequence[bool]
    fingerprint: Sequence[str]
    explanation: Sequence[bytes]
    source: Sequence[str]
    lifetime: Sequence[bool]
    transaction: Sequence[None]
    vests_on: Sequence[date | None]
    vests_at: Sequence[datetime | None]


_DECODER: Final = msgspec.json.Decoder(_Envelope)
_ENCODER: Final = msgspec.json.Encoder()


def read_columns(text: bytes) -> Columns | None:
    """None where the other reader has to judge."""
    try:
        envelope = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # Written again it is the same, so no object in it names a member twice.
    if not envelope.awards or _ENCODER.encode(envelope) != text:
        return None
    explanations = _explanations(envelope.awards)
    return None if explanations is None else _columns(envelope.awards, explanations)


def _explanations(awards: Iterable[_Award]) -> list[bytes] | None:
    """The texts, if each is an object that is the same when it is written again."""
    texts = [bytes(award.explanation) for award in awards]
    try:
        for text in texts:
            if orjson.dumps(orjson.loads(text)) != text or text[:1] != b"{":
                return None
            if len(text) > _FLAT and text.count(b"{") + text.count(b"[") > _FLAT // 4:
                return None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return texts


def _columns(awards: Sequence[_Award], explanations: Sequence[bytes]) -> Columns | None:
    keys, sources = [each.key for each in awards], [each.source for each in awards]
    members, fingerprints = [each.member_id for each in awards], [each.fingerprint for each in awards]
    programs, countries = [each.program for each in awards], [each.country for each in awards]
    points = [each.points for each in awards]
    moments = moments_of([each.occurred_at for each in awards])
    days = _each(day_of, [each.expires_on for each in awards])
    kinds = _each(_KINDS.get, [each.kind for each in awards])
    vesting = _vesting(awards)
    if (
        moments is None
        or days is None
        or kinds is None
        or vesting is None
        or not all_match(_KEYS, keys)
        or not all_match(_IDS, members)
        or not all_match(_FINGERPRINTS, fingerprints)
        or not all_match(_PROGRAMS, [*set(programs)])
        or not all_match(_COUNTRIES, [*set(countries)])
        or not all_match(_SOURCES, [*set(sources)])
        or not 0 <= min(points) <= max(points) <= MAX_POINTS
        or not all(map(_agree, keys, sources))
    ):
        return None
    return Columns(
        keys,
        members,
        programs,
        countries,
        kinds,
        points,
        moments,
        days,
        [each.activity for each in awards],
        fingerprints,
        explanations,
        sources,
        [each.lifetime is True for each in awards],
        [None] * len(awards),
        *vesting,
    )


def _vesting(awards: Sequence[_Award]) -> tuple[list[date | None], list[datetime | None]] | None:
    """When the points of each award vest; None where one says it by half, or as the other reader has to judge."""
    days: list[date | None] = [None] * len(awards)
    moments: list[datetime | None] = [None] * len(awards)
    for place, award in enumerate(awards):
        if award.vests_on is UNSET and award.vests_at is UNSET:
            continue
        if isinstance(award.vests_on, UnsetType) or isinstance(award.vests_at, UnsetType):
            return None
        on, at = day_of(award.vests_on), moment_of(award.vests_at)
        if on is None or at is None or not begins_there(on, at):
            return None
        days[place], moments[place] = on, at
    return days, moments


def begins_there(day: date, at: datetime) -> bool:
    """Whether the day begins at that time somewhere."""
    return abs(datetime(day.year, day.month, day.day, tzinfo=UTC) - at) <= _FURTHEST_ZONE


def _each(read: Callable[[str], Value | None], texts: Sequence[str]) -> list[Value] | None:
    """What is read of each text, which few others are; None where one is for the other reader."""
    values = {text: read(text) for text in set(texts)}
    known = {text: value for text, value in values.items() if value is not None}
    return [known[text] for text in texts] if len(known) == len(values) else None


def _agree(key: str, source: str) -> bool:
    return (source == STREAM and key.startswith(_OF_STREAM)) or source_of_key(key) in {None, source}
