"""The sums in Postgres: every process adds its own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.intake.pulse.types import Step, Sum, Summed
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

# All processes lock in this order.
_ADD: Final = Statement(f"""
insert into points_pulse as p ({columns(Sum)})
select u.* from {unnested(Sum, step="text", within_s="float8")} order by u.step, u.since, u.country, u.within_s
on conflict (step, since, country, within_s)
do update set awards = p.awards + excluded.awards, points = p.points + excluded.points
""")
_READ: Final = Statement("""
select since, within_s, sum(awards)::bigint, sum(points)::bigint from points_pulse
where step = :step and since >= :begin and (:end::timestamptz is null or since < :end)
    and (:countries::text[] is null or country = any(:countries))
group by since, within_s
""")
_LAST: Final = Statement("""
select max(since) from points_pulse where step = :step and (:countries::text[] is null or country = any(:countries))
""")
_FORGET: Final = Statement("delete from points_pulse where step = :step and since < :before")


class PulseStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, sums: Sequence[Sum]) -> None:
        async with passing_failures():
            await self._pool.execute(*_ADD(**arrays(Sum, sums)))

    async def since(
        self, step: Step, begin: datetime, countries: Sequence[str] | None = None, *, end: datetime | None = None
    ) -> Sequence[Summed]:
        """The sums from that time on, or up to another; of these countries together, or of all."""
        async with passing_failures():
            rows = await self._pool.fetch(*_READ(step=step, begin=begin, end=end, countries=countries))
        return [Summed(*row) for row in rows]

    async def last(self, countries: Sequence[str] | None = None) -> datetime | None:
        """When the last quarter of an hour with points began; None where none is kept."""
        async with passing_failures():
            found: datetime | None = await self._pool.fetchval(*_LAST(step=Step.QUARTER, countries=countries))
        return found

    async def forget(self, now: datetime) -> None:
        """Deletes what is older than it is kept."""
        async with passing_failures():
            for step in Step:
                await self._pool.execute(*_FORGET(step=step, before=now - step.kept))
