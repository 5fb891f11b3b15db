"""Exchanges that have not ended: how many by programme and state, and which, by age."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.exchange_rows import exchange_of
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Narrowed, columns

_OPEN: Final = f"ended_at is null and state <> '{State.QUOTED}'"
# A person has to see to it: it was set aside, or the partner has had it for too long.
_NEEDY: Final = f"(state = '{State.ASIDE}' or late_at <= :now)"
_COUNTS: Final = Narrowed(
    f"""
select programme, direction, state, count(*) as exchanges, count(*) filter (where late_at <= :now) as late,
    min(changed_at) as oldest
from exchange where {_OPEN} {{and}} group by programme, direction, state order by programme, direction, state
""",
    countries="country = any(:countries::text[])",
)
_CONDITIONS: Final = {
    "programme": "programme = :programme",
    "direction": "direction = :direction",
    "state": "state = :state",
    "before": "changed_at <= :before",
    "countries": "country = any(:countries::text[])",
    "after": "(changed_at, exchange_id) > (:after, :after_id::uuid)",
}
_LIST: Final = Narrowed(
    f"""
select {columns(Exchange)} from exchange where {_OPEN} {{and}} order by changed_at, exchange_id limit :most
""",
    **_CONDITIONS,
)
_NEED: Final = Narrowed(
    f"""
select {columns(Exchange)} from exchange where {_OPEN} and {_NEEDY} {{and}}
order by state <> '{State.ASIDE}', changed_at, exchange_id limit :most
""",
    **_CONDITIONS,
)


class OpenCount(NamedTuple):
    """How many of a programme are at a state, how many of these are late, and since when the oldest is there."""

    programme: str
    direction: str
    state: str
    exchanges: int
    late: int
    oldest: datetime


class Narrowing(NamedTuple):
    """What a list is narrowed to. `before`: at their states since then or longer. Without `countries` they are all."""

    countries: Sequence[str] | None = None
    programme: str | None = None
    state: State | None = None
    direction: Direction | None = None
    before: datetime | None = None


class OpenRows:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def counts(self, countries: Sequence[str] | None, now: datetime) -> list[OpenCount]:
        narrowed = {"countries": None if countries is None else list(countries)}
        async with passing_failures():
            return [OpenCount(*row) for row in await self._pool.fetch(*_COUNTS(narrowed, now=now))]

    async def oldest(
        self, narrowing: Narrowing, most: int, *, after: tuple[datetime, UUID] | None = None
    ) -> list[Exchange]:
        """The longest at their states first, or the next after a place in this order."""
        place = {} if after is None else {"after": after[0], "after_id": after[1]}
        async with passing_failures():
            rows = await self._pool.fetch(*_LIST({**_values(narrowing), **place}, most=most))
        return [exchange_of(row) for row in rows]

    async def needy(self, narrowing: Narrowing, most: int, now: datetime) -> list[Exchange]:
        """A person has to see to these: set aside first, then late."""
        async with passing_failures():
            rows = await self._pool.fetch(*_NEED(_values(narrowing), now=now, most=most))
        return [exchange_of(row) for row in rows]


def _values(narrowing: Narrowing) -> dict[str, object]:
    countries = narrowing.countries
    return {**narrowing._asdict(), "countries": None if countries is None else list(countries)}
