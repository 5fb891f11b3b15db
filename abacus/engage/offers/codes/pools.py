"""Pools of offers and their batches: what was loaded, what is used, and what is free."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement


class BatchState(NamedTuple):
    """A batch of the pool of an offer. `held` codes are reserved; codes of a batch that was withdrawn are not free."""

    offer: str
    country: str
    batch: str
    loaded: int
    used: int
    held: int
    made_at: datetime
    made_by: str
    withdrawn_at: datetime | None

    @property
    def free(self) -> int:
        return 0 if self.withdrawn_at is not None else self.loaded - self.used - self.held


class PoolState(NamedTuple):
    """The pool of an offer, in all its batches."""

    offer: str
    country: str
    batches: int
    loaded: int
    used: int
    held: int
    free: int


_BATCHES: Final = Statement("""
select p.offer, p.country, b.name, b.loaded, count(u.digest) filter (where u.used_at is not null) as used,
    count(u.digest) filter (where u.used_at is null) as held, b.made_at, b.made_by, b.withdrawn_at
from offer_pool p join offer_code_batch b on b.pool = p.number
left join offer_code_use u on u.pool = b.pool and u.batch = b.batch
where :offers::text[] is null or p.offer = any(:offers)
group by p.offer, p.country, b.pool, b.batch order by p.offer, b.batch
""")
_LOADED: Final = Statement("""
select p.offer, p.country from offer_pool p where exists (
    select from offer_code_batch b where b.pool = p.number and b.withdrawn_at is null and b.loaded > 0
)
""")
_COUNTRY: Final = Statement("select country from offer_pool where offer = :offer")
_WITHDRAW: Final = Statement("""
update offer_code_batch b set withdrawn_at = :now from offer_pool p
where p.offer = :offer and b.pool = p.number and b.name = :batch and b.withdrawn_at is null returning b.loaded
""")


async def batch_states(pool: Pool, offers: Collection[str] | None = None) -> list[BatchState]:
    """Of all pools, or of these offers, in the order in which they were begun. Raises `Unavailable`."""
    async with passing_failures():
        return [
            BatchState(*row) for row in await pool.fetch(*_BATCHES(offers=None if offers is None else list(offers)))
        ]


def pool_states(batches: Iterable[BatchState]) -> list[PoolState]:
    """The pools of these batches."""
    of: dict[tuple[str, str], list[BatchState]] = {}
    for each in batches:
        of.setdefault((each.offer, each.country), []).append(each)
    return [
        PoolState(*place, len(some), *(sum(getattr(each, name) for each in some) for name in PoolState._fields[3:]))
        for place, some in of.items()
    ]


async def loaded_pools(pool: Pool) -> Mapping[str, str]:
    """The offers for which codes are loaded, each with its country. Raises `Unavailable`."""
    async with passing_failures():
        return {row["offer"]: row["country"] for row in await pool.fetch(*_LOADED())}


async def country_of(pool: Pool, offer: str) -> str | None:
    """The country of a pool, if there is one. Raises `Unavailable`."""
    async with passing_failures():
        country: str | None = await pool.fetchval(*_COUNTRY(offer=offer))
    return country


async def withdraw(connection: Connection, offer: str, batch: str, now: datetime) -> bool:
    """Whether there was such a batch that was not withdrawn before."""
    found: Sequence[object] = await connection.fetch(*_WITHDRAW(offer=offer, batch=batch, now=now))
    return bool(found)
