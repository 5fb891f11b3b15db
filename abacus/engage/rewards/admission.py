"""Whether rewards are for a member, and what a piece costs it: by their rules, and by its tier and segments."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.engage.asking.facts import AskingMember
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.decide.price import piece_price
from abacus.engage.rewards.kind import REWARDS
from abacus.engage.rewards.offered import Offered
from abacus.signals.facts.members import InSegments
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry


class Asking(NamedTuple):
    """A member who asks for a reward, with what is known of it at that moment."""

    offered: Offered
    member_id: str
    standing: Standing
    at: datetime


class Admission:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, segments: InSegments, facts: FactRegistry[AskingMember]) -> None:
        self._segments = segments
        self._facts = facts

    async def holds(self, some: Sequence[Asking]) -> list[bool | None]:
        """Whether the rule of each reward holds for its member; None where that cannot be told now."""
        asked = [Question(_member(each), each.offered.plan) for each in some if each.offered.plan is not None]
        decisions = iter(await decide_all(asked, self._facts) if asked else [])
        return [
            None if each.offered.misfit is not None else True if each.offered.plan is None else next(decisions).holds
            for each in some
        ]

    async def pieces(self, some: Sequence[Asking]) -> list[int]:
        """The points for a piece of each."""
        pairs = {(name, each.member_id) for each in some for name in each.offered.reward.price.segments}
        found = await self._segments(pairs) if pairs else {}
        return [
            piece_price(
                each.offered.reward,
                each.standing.tier,
                {name for name in each.offered.reward.price.segments if found[name, each.member_id]},
            )
            for each in some
        ]


def _member(each: Asking) -> AskingMember:
    return AskingMember.of(REWARDS.plural, each.offered.reward, each.member_id, each.standing, each.at)
