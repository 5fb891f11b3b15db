"""One reward: a version of it as sentences, what was taken, and what may be done to this version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.decide.bars import Bar
from abacus.console.pages.rewards.reward_pages import PAGES, used_bars
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.desk import RewardDesk, StageLine


@dataclass(frozen=True)
class Used:
    """What was taken of a reward, by all its versions: beside its stocks, and by what came of it."""

    bars: Sequence[Bar]
    stages: Sequence[StageLine]


@dataclass(frozen=True, kw_only=True)
class RewardPage(Page):
    """A version of one reward."""

    template: ClassVar[str] = "reward.html"
    shown: ShownVersion
    used: Part[Used]


async def reward(call: Call) -> RewardPage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    return RewardPage(
        title=name,
        command=f"abacus rewards show {name}",
        shown=await PAGES.version(call, history, record),
        used=await call.part(_used(call, record.document)),
    )


async def _used(call: Call, of: Reward) -> Used:
    bars = await used_bars(call, [of])
    return Used(bars[of.name], await call.rooms[RewardDesk].stages(of.name))
