"""Rewards on the command line: their desk, and drafts in files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.engage.campaigns.grantors import Grantors
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS


@asynccontextmanager
async def reward_desk(at: CommandActor) -> AsyncIterator[RewardDesk]:
    yield RewardDesk(at.pool, at.clock, large_moves(at.pool, at).approvals)


def _with_drafts(published: RewardPublications, drafts: Mapping[str, Sequence[Any]]) -> RewardPublications:
    return published.with_drafts(
        cards=drafts.get("rates", ()),
        counters=drafts.get("counters", ()),
        downstreams=drafts.get("downstreams", ()),
        offers=drafts.get("offers", ()),
    )


FAMILY: Final = StatedFamily(
    kind=REWARDS,
    desk=reward_desk,
    files="Rewards, in TOML or JSON.",
    drafts="rewards",
    one="a reward",
    nothing_new="the rewards are there already",
    with_drafts=_with_drafts,
    grantors=Grantors,
    sentence=lambda reward: f"{reward.name} of {reward.country}, for {reward.price.points} points",
)
