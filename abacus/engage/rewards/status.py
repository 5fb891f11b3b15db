"""The line of rewards in the state of things, and the metrics of what people have to look at."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Cause, Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.engage.rewards.decide.redemption import UNFINISHED, Stage
from abacus.engage.rewards.metrics import CODES_FREE, CODES_LOW, REDEMPTIONS_LATE, REDEMPTIONS_UNFINISHED
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_STUCK_AFTER: Final = timedelta(minutes=1)
_UNFINISHED: Final = ", ".join(f"'{each}'" for each in UNFINISHED)

_REDEMPTIONS: Final = Statement(f"""
select count(*) filter (where stage = '{Stage.SENT}' and late_at <= :now) as late,
    count(*) filter (where stage in ({_UNFINISHED}) and changed_at < :before) as unfinished
from reward_redemption where stage = '{Stage.SENT}' or stage in ({_UNFINISHED})
""")
# A pool without a mark of its own is low when it is dry.
_POOLS: Final = Statement(f"""
select w.pool, coalesce(p.loaded - p.given, 0)
    + (select count(*) from reward_code c where c.pool = w.pool and c.is_spare) as free, w.low
from (
    select document #>> '{{delivery,pool}}' as pool,
        max(coalesce((document #>> '{{delivery,low}}')::bigint, 1)) as low
    from reward where status = '{Status.APPROVED}' and ends_at > :now and document #>> '{{delivery,pool}}' is not null
    group by 1
) w left join reward_pool p on p.name = w.pool order by w.pool
""")


class PoolLevel(NamedTuple):
    """The free codes of a pool that rewards in force use, and the mark below which people are told."""

    pool: str
    free: int
    low: int

    @property
    def is_low(self) -> bool:
        return self.free < self.low


class RewardState(NamedTuple):
    """Redemptions that no fulfiller reported in time, redemptions that are not gone on with, and pools."""

    late: int
    unfinished: int
    pools: Sequence[PoolLevel]

    @property
    def low(self) -> Sequence[PoolLevel]:
        return [each for each in self.pools if each.is_low]


def told_of(state: RewardState) -> Undelivered:
    figures = {"late": state.late, "unfinished": state.unfinished, "low_pools": len(state.low)}
    told = (
        f"{state.late:,} redemptions late, {state.unfinished:,} not gone on with, {len(state.low):,} pools of codes low"
    )
    return Undelivered("rewards", told, figures, _problem(state))


def _problem(state: RewardState) -> Problem | None:
    if state.unfinished:
        fault = f"{state.unfinished:,} redemptions are not gone on with"
        return Problem(fault, "see that the API runs, and its log", cause=Cause.NEEDS_SOMEBODY, about="rewards")
    if state.low:
        pools = ", ".join(f"{each.pool} ({each.free:,})" for each in state.low)
        return Problem(
            f"free codes run low: {pools}",
            "abacus rewards codes load POOL FILE",
            cause=Cause.NEEDS_SOMEBODY,
            about="rewards",
        )
    if state.late:
        fault = f"{state.late:,} redemptions were not reported by their fulfillers in time"
        return Problem(
            fault, "ask the fulfiller; cancel what is not delivered", cause=Cause.NEEDS_SOMEBODY, about="rewards"
        )
    return None


async def reward_state(pool: Pool, now: datetime) -> RewardState:
    """Raises `Unavailable`."""
    async with passing_failures():
        row = await pool.fetchrow(*_REDEMPTIONS(now=now, before=now - _STUCK_AFTER))
        levels = [PoolLevel(*each) for each in await pool.fetch(*_POOLS(now=now))]
    return RewardState(row["late"], row["unfinished"], levels)


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    state = await reward_state(pool, clock.now())
    REDEMPTIONS_LATE.set(state.late)
    REDEMPTIONS_UNFINISHED.set(state.unfinished)
    set_series(CODES_FREE, {each.pool: each.free for each in state.pools})
    set_series(CODES_LOW, {each.pool: each.is_low for each in state.pools})


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    return told_of(await reward_state(pool, clock.now()))


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
