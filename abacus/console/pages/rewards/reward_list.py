"""The rewards, with their states, their prices, and what is free of their pools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.page import Page
from abacus.documents.decide.states import State
from abacus.engage.rewards.decide.reward import FromPool
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.reward_store import RewardRecord
from abacus.people.types.deed import Deed

_MOST: Final = 50


@dataclass(frozen=True)
class RewardRow:
    """A version of a reward. `free` is how many codes its pool has; None for one without a pool."""

    name: str
    version: int
    about: str
    country: str
    state: str
    points: int
    pool: str | None
    free: int | None
    is_low: bool
    starts_at: datetime
    ends_at: datetime
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, kw_only=True)
class RewardsPage(Page):
    """The latest version of each, by name."""

    template: ClassVar[str] = "rewards.html"
    list: Rows[RewardRow]
    chosen: str | None
    states: Sequence[str] = tuple(State)
    may_draft: bool


async def rewards(call: Call) -> RewardsPage:
    state, desk, countries = call.chosen("state", State), call.rooms[RewardDesk], call.countries(Deed.SEE)
    found = await desk.page(countries=countries, state=state, after=call.asked("after"), limit=_MOST + 1)
    shown, free = found[:_MOST], await desk.free_codes()
    more = call.next_page(shown[-1].document.name) if len(found) > _MOST else None
    return RewardsPage(
        title="Rewards",
        command=f"abacus rewards list --state {state}" if state else "abacus rewards list",
        list=Rows([row_of(each, call.now, free) for each in shown], more),
        chosen=state,
        may_draft=call.may_somewhere(Deed.EDIT_REWARDS),
    )


def row_of(record: RewardRecord, now: datetime, free: Mapping[str, int]) -> RewardRow:
    reward = record.document
    pool = reward.delivery if isinstance(reward.delivery, FromPool) else None
    left = free.get(pool.pool, 0) if pool is not None else None
    return RewardRow(
        name=reward.name,
        version=reward.version,
        about=reward.about,
        country=reward.country,
        state=record.state(now),
        points=reward.price.points,
        pool=pool.pool if pool is not None else None,
        free=left,
        is_low=pool is not None and left is not None and left < max(pool.low, 1),
        starts_at=reward.starts_at,
        ends_at=reward.ends_at,
        changed_at=record.changed_at,
        changed_by=record.changed_by,
    )
