"""Loads codes into the pool of an offer: as digests, by COPY, each code once."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

from abacus.engage.offers.decide.single_code import digest_of
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

AT_ONCE: Final = 50_000  # codes that are loaded in one transaction


class Loaded(NamedTuple):
    """How many codes are new in the pool, and how many were there before, or stood twice."""

    new: int = 0
    known: int = 0

    def plus(self, other: "Loaded") -> "Loaded":
        return Loaded(self.new + other.new, self.known + other.known)


class Batch(NamedTuple):
    """Where codes go: the batch of an offer's pool. All codes of a batch that `is_checked` have the check character."""

    offer: str
    country: str
    name: str
    is_checked: bool
    made_by: str


# Of two that are made at once one waits for the other, and has to be made again.
_MAKE_POOL: Final = Statement("""
insert into offer_pool (offer, number, country)
select :offer::text, coalesce(max(number), 0) + 1, :country::text from offer_pool on conflict do nothing
""")
_LOCK: Final = Statement("select number from offer_pool where offer = :offer for update")
_MAKE_BATCH: Final = Statement("""
insert into offer_code_batch as b (pool, batch, name, is_checked, loaded, made_at, made_by)
select :pool::integer, coalesce(max(o.batch), 0) + 1, :name::text, :is_checked::boolean, 0, :now::timestamptz,
    :made_by::text
from offer_code_batch o where o.pool = :pool
on conflict (pool, name) do update set is_checked = b.is_checked and excluded.is_checked returning b.batch
""")
_STAGE: Final = "create temporary table loaded_code (digest bytea) on commit drop"
_ENTER: Final = Statement("""
with entered as (
    insert into offer_code (digest, pool, batch) select digest, :pool::integer, :batch::integer from loaded_code
    order by digest on conflict do nothing returning true
), grown as (
    update offer_code_batch set loaded = loaded + (select count(*) from entered) where pool = :pool and batch = :batch
) select count(*) from entered
""")


class CodeLoader:
    """Loading the same codes again enters nothing, so what was cut off is done again. Every method raises
    `Unavailable`.
    """

    def __init__(self, pool: Pool, key: bytes) -> None:
        self._pool = pool
        self._key = key

    async def load(self, batch: Batch, codes: Iterable[str], now: datetime, *, at_once: int = AT_ONCE) -> Loaded:
        """Loads codes in the form in which they are compared."""
        loaded = Loaded()
        place: tuple[int, int] | None = None
        for some in _parts(codes, at_once):
            place = place or await self._place(batch, now)
            digests = {digest_of(code, self._key) for code in some}
            async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                new = await _entered(connection, digests, *place)
            loaded = loaded.plus(Loaded(new, len(some) - new))
        return loaded

    async def _place(self, batch: Batch, now: datetime) -> tuple[int, int]:
        """The numbers of the pool and of the batch, which are made where they are new."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            while (pool := await connection.fetchval(*_LOCK(offer=batch.offer))) is None:
                await connection.execute(*_MAKE_POOL(offer=batch.offer, country=batch.country))
            made = _MAKE_BATCH(pool=pool, name=batch.name, is_checked=batch.is_checked, now=now, made_by=batch.made_by)
            return pool, await connection.fetchval(*made)


async def _entered(connection: Connection, digests: Iterable[bytes], pool: int, batch: int) -> int:
    await connection.execute(_STAGE)
    await connection.copy_records_to_table("loaded_code", records=[(each,) for each in digests])
    return int(await connection.fetchval(*_ENTER(pool=pool, batch=batch)))


def _parts(codes: Iterable[str], at_once: int) -> Iterator[Sequence[str]]:
    rest = iter(codes)
    while part := list(islice(rest, at_once)):
        yield part
