"""What the pages of rewards say of their own."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.console.decide.bars import Bar, Counted, bar, bars_of
from abacus.console.pages.stated.stated_pages import BarsByName, StatedPages
from abacus.console.web.calls import Call
from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import Amounts
from abacus.engage.rewards.decide.reward import FromPool, Reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS
from abacus.engage.rewards.pools import PoolState

_WORDS: Final = LimitWords("stock")


async def used_bars(call: Call, rewards: Sequence[Reward]) -> BarsByName:
    """The bars of stocks and pools, by the name of the reward."""
    desk, days = call.rooms[RewardDesk], {each.name: _today(call, each) for each in rewards}
    used, pools = await desk.used(days), {each.name: each for each in await desk.pools()}
    return {
        each.name: [
            *bars_of(each.limits, _WORDS, _counted(used.get(each.name, {})), days[each.name]),
            *_of_pool(each, pools),
        ]
        for each in rewards
    }


def _today(call: Call, reward: Reward) -> str:
    return call.now.astimezone(reward.zone).date().isoformat()


def _counted(pieces: Mapping[str, int]) -> Counted:
    return Counted({period: Amounts(number) for period, number in pieces.items()})


def _of_pool(reward: Reward, pools: Mapping[str, PoolState]) -> list[Bar]:
    if not isinstance(reward.delivery, FromPool) or (state := pools.get(reward.delivery.pool)) is None:
        return []
    is_low = state.free < max(reward.delivery.low, 1)
    return [bar(f"codes of {state.name}", state.loaded - state.free, state.loaded, is_low=is_low)]


PAGES: Final = StatedPages(
    kind=REWARDS,
    desk=RewardDesk,
    title="Rewards",
    about="What points buy: a code of a pool, or what a fulfiller delivers.",
    used=used_bars,
    links=[("Report", "/rewards-report")],
    is_granted=True,
    told={"points": lambda reward: f"{reward.price.points:,}"},
)
