"""The calls of the API. Each is made once, with its idempotency keys, and is the same in every try. Pure."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar
from urllib.parse import quote as quoted
from urllib.parse import urlencode
from uuid import UUID, uuid4

import httpx

from abacus_client import decode
from abacus_client.answers import (
    Award,
    BatchResult,
    Count,
    EventResult,
    Grain,
    KeyCount,
    Lot,
    Member,
    Movement,
    MovementResult,
    Page,
    Pending,
    PositionResult,
    Quote,
    Series,
    Transfer,
)

IDEMPOTENCY_KEY_PATTERN: Final = r"^[\x21-\x7e]{1,255}$"  # as in the API: characters that any header carries

ON_PAGE: Final = 100
_IDEMPOTENCY_KEY: Final = re.compile(IDEMPOTENCY_KEY_PATTERN)

Answer = TypeVar("Answer")


class _Sale(TypedDict):
    country: str
    vertical: str
    payment_type: str
    amount: str | Decimal
    currency: str
    occurred_at: str | datetime
    source: NotRequired[str]
    redemption_id: NotRequired[str | UUID]
    type: NotRequired[Literal["transaction.completed"]]
    member_id: NotRequired[str]


class Transaction(_Sale):
    """A transaction for Abacus to compute. An amount is never a float, and a time has an offset. `redemption_id` names
    the offer or the reward that was redeemed with it.
    """

    transaction_id: str


class QuotedTransaction(_Sale):
    """A transaction to be priced and not awarded, on any day."""

    transaction_id: NotRequired[str]


class FixedItem(TypedDict):
    """An award of a batch whose points the partner names."""

    member_id: str
    country: str
    points: int
    reason: str
    program: NotRequired[str]
    idempotency_key: NotRequired[str]


class ComputedItem(TypedDict):
    """An award of a batch whose points Abacus computes."""

    member_id: str
    transaction: Transaction
    program: NotRequired[str]
    idempotency_key: NotRequired[str]


class MovementItem(TypedDict):
    """A spend, a hold, a capture or a release of a batch, by its `kind`, with the fields of its own route: `points` to
    spend or hold, the `hold_id` to capture or release, of which `points` may be a part.
    """

    kind: Literal["spend", "hold", "capture", "release"]
    member_id: str
    points: NotRequired[int]
    hold_id: NotRequired[UUID | str]
    program: NotRequired[str]
    country: NotRequired[str]
    reason: NotRequired[str]
    money: NotRequired[Decimal | str]
    price: NotRequired[Decimal | str]
    expires_in: NotRequired[int]
    idempotency_key: NotRequired[str]


class CountQuery(NamedTuple):
    """A range of time for a key of a counter. A time is a `datetime` with an offset, or seconds since 1970."""

    key: str
    from_: datetime | int
    to: datetime | int


class SeriesQuery(NamedTuple):
    """A range of time for a key of a counter, and the length of its slots. A time is a `datetime` with an offset, or
    seconds since 1970.
    """

    key: str
    from_: datetime | int
    to: datetime | int
    grain: Grain


class Event(TypedDict):
    """Something that happened. `var` has the variables that the source lists for the type."""

    source: str
    type: str
    id: str
    occurred_at: str | datetime
    member_id: NotRequired[str]
    country: NotRequired[str]
    var: NotRequired[Mapping[str, str | int | Decimal | datetime | Sequence[str]]]


class Position(TypedDict):
    """Where a member was at a time, as far as `accuracy_m` metres are wrong."""

    member_id: str
    lat: float
    lon: float
    at: str | datetime
    accuracy_m: NotRequired[float]


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """A request before it is signed and sent, and the function that reads its answer. What may be done `once` is not
    tried again while it is not known whether the API has done it.
    """

    method: str
    path: str
    read: Callable[[httpx.Response, Sequence[str]], Answer]
    body: bytes | None = None
    idempotency_keys: tuple[str, ...] = ()
    wait_s: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    once: bool = False


def fixed(member_id: str, country: str, points: int, reason: str, program: str | None) -> dict[str, object]:
    return named(member_id=member_id, country=country, points=points, reason=reason, program=program)


def computed(member_id: str, transaction: Mapping[str, object], program: str | None) -> dict[str, object]:
    return named(member_id=member_id, transaction=transaction, program=program)


def award(body: Mapping[str, object], idempotency_key: str | None, wait_s: int) -> Call[Award]:
    """Raises `ValueError` for a key that no header carries."""
    key = checked_key(idempotency_key)
    headers = {"Idempotency-Key": key, **({"Prefer": f"wait={wait_s}"} if wait_s > 0 else {})}
    return Call("POST", "/v1/awards", decode.award, as_json(body), (key,), max(0, wait_s), headers)


def award_batch(items: Iterable[FixedItem | ComputedItem]) -> Call[list[BatchResult]]:
    keyed, keys = _keyed(items)
    return Call("POST", "/v1/awards/batch", decode.batch, as_json({"awards": keyed}), keys)


def movements(items: Iterable[MovementItem]) -> Call[list[MovementResult]]:
    keyed, keys = _keyed(items)
    return Call("POST", "/v1/movements", decode.movements, as_json({"movements": keyed}), keys)


def _keyed(items: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The items, each with its key, and the keys."""
    keyed = [{"idempotency_key": _new_key(), **item} for item in items]
    return keyed, tuple(str(item["idempotency_key"]) for item in keyed)


def event(event: Event) -> Call[str]:
    return Call("POST", "/v1/events", decode.event, as_json(event))


def event_batch(events: Iterable[Event]) -> Call[list[EventResult]]:
    return Call("POST", "/v1/events/batch", decode.events, as_json({"events": list(events)}))


def positions(positions: Iterable[Position]) -> Call[list[PositionResult]]:
    return Call("POST", "/v1/positions", decode.positions, as_json({"positions": list(positions)}))


def award_state(award_id: UUID | str) -> Call[Award]:
    return Call("GET", f"/v1/awards/{part(str(award_id))}", decode.award)


def quote(body: Mapping[str, object]) -> Call[Quote]:
    return Call("POST", "/v1/quotes", decode.quote, as_json(body))


def member(member_id: str, as_of: datetime | None) -> Call[Member]:
    """Raises `ValueError` for a time without an offset."""
    query = "" if as_of is None else "?" + urlencode({"as_of": _time(as_of)})
    return Call("GET", f"/v1/members/{part(member_id)}{query}", decode.member)


def transfers(member_id: str, program: str | None, cursor: str | None) -> Call[Page[Transfer]]:
    query = urlencode(named(program=program, limit=ON_PAGE, cursor=cursor))
    return Call("GET", f"/v1/members/{part(member_id)}/transfers?{query}", decode.transfers)


def lots(member_id: str, program: str | None, cursor: str | None) -> Call[Page[Lot]]:
    query = urlencode(named(program=program, limit=ON_PAGE, cursor=cursor))
    return Call("GET", f"/v1/members/{part(member_id)}/lots?{query}", decode.lots)


def counts(queries: Iterable[CountQuery]) -> Call[list[Count]]:
    """Raises `ValueError` for a time without an offset."""
    asked = [{"key": each.key, "from": _time(each.from_), "to": _time(each.to)} for each in queries]
    return Call("POST", "/v1/counts", decode.counts, as_json({"queries": asked}))


def series(queries: Iterable[SeriesQuery]) -> Call[list[Series]]:
    """Raises `ValueError` for a time without an offset."""
    asked = [
        {"key": each.key, "from": _time(each.from_), "to": _time(each.to), "grain": each.grain} for each in queries
    ]
    return Call("POST", "/v1/series", decode.series, as_json({"queries": asked}))


def counter_keys(counter: str, cursor: str | None) -> Call[Page[str]]:
    query = urlencode(named(limit=ON_PAGE, cursor=cursor))
    return Call("GET", f"/v1/counters/{part(counter)}/keys?{query}", decode.counter_keys)


def top_keys(counter: str, top: int, from_: datetime | int, to: datetime | int) -> Call[list[KeyCount]]:
    """Raises `ValueError` for a time without an offset."""
    query = urlencode({"top": top, "from": _time(from_), "to": _time(to)})
    return Call("GET", f"/v1/counters/{part(counter)}/keys?{query}", decode.top_keys)


def spend(member_id: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement]:
    return _movement(f"/v1/members/{part(member_id)}/spend", body, idempotency_key)


def hold(member_id: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement]:
    return _movement(f"/v1/members/{part(member_id)}/holds", body, idempotency_key)


def settle(member_id: str, hold_id: UUID | str, how: str, points: int | None) -> Call[Movement]:
    """The hold is its own key: it is captured or released once."""
    path = f"/v1/members/{part(member_id)}/holds/{part(str(hold_id))}/{how}"
    body = None if how == "release" else as_json(named(points=points))
    return Call("POST", path, decode.movement, body)


def reverse(transfer_id: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement | Pending]:
    return _large(f"/v1/transfers/{part(transfer_id)}/reverse", body, idempotency_key)


def adjust(member_id: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement | Pending]:
    return _large(f"/v1/members/{part(member_id)}/adjustments", body, idempotency_key)


def moving(
    points: int | None, reason: str | None, program: str | None = None, country: str | None = None, **more: object
) -> dict[str, object]:
    return named(points=points, reason=reason, program=program, country=country, **more)


def _large(path: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement | Pending]:
    key = checked_key(idempotency_key)
    return Call("POST", path, decode.large, as_json(body), (key,), headers={"Idempotency-Key": key})


def _movement(path: str, body: Mapping[str, object], idempotency_key: str | None) -> Call[Movement]:
    key = checked_key(idempotency_key)
    return Call("POST", path, decode.movement, as_json(body), (key,), headers={"Idempotency-Key": key})


def checked_key(idempotency_key: str | None) -> str:
    """The key, or a new one. Raises `ValueError` for a key that no header carries."""
    key = _new_key() if idempotency_key is None else idempotency_key
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        raise ValueError(f"idempotency key {key!r}: 1 to 255 visible ASCII characters are needed, and no space")
    return key


def _new_key() -> str:
    return str(uuid4())


def _time(moment: datetime | int) -> str | int:
    """Raises `ValueError` for a time without an offset."""
    if isinstance(moment, int):
        return moment
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()}: a time with an offset is needed")
    return moment.isoformat()


def named(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def part(text: str) -> str:
    """One segment of a path, escaped; dots alone would mean a parent directory."""
    return quoted(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def as_json(body: object) -> bytes:
    return json.dumps(body, default=_text, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _text(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")  # every digit, no exponent
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a request")
