"""Whether rewards are for a member, and what a piece costs it: by their rules, and by its tier and segments."""

from collections.abc import Sequence
from datetime import datetime

from abacus.engage.rewards.decide.price import Standing, piece_price
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.facts import RewardMember
from abacus.engage.rewards.offered import Offered
from abacus.signals.facts.members import InSegments
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry


class Admission:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, segments: InSegments, facts: FactRegistry[RewardMember]) -> None:
        self._segments = segments
        self._facts = facts

    async def holds(self, member_id: str, some: Sequence[tuple[Offered, Standing]], now: datetime) -> list[bool | None]:
        """Whether the rule of each holds for the member; None where that cannot be told now."""
        asked = [
            Question(RewardMember.of(each.reward, member_id, standing, now), each.plan)
            for each, standing in some
            if each.plan is not None
        ]
        decisions = iter(await decide_all(asked, self._facts) if asked else [])
        return [
            None if each.misfit is not None else True if each.plan is None else next(decisions).holds
            for each, _ in some
        ]

    async def piece(self, reward: Reward, member_id: str, standing: Standing) -> int:
        """The points for a piece."""
        return piece_price(reward, standing.tier, await self._own_segments(reward, member_id))

    async def _own_segments(self, reward: Reward, member_id: str) -> set[str]:
        if not reward.price.segments:
            return set()
        found = await self._segments([(name, member_id) for name in reward.price.segments])
        return {name for (name, _), has in found.items() if has}
