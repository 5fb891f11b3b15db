"""What rules of rewards look up: what is known of the member already, segments, counters, and what services say."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Generic, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import Unavailable
from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.engage.rewards.decide.price import Standing
from abacus.engage.rewards.decide.reward import Reward
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.decide.catalog import BALANCE, MEMBER, TIER
from abacus.signals.facts.members import InSegments, SegmentFacts
from abacus.signals.facts.types import NOT_NOW, FactRegistry, FactSource, Found, SubjectT, Wish
from abacus.signals.rules.decide.types import Origin

_LOOK_WITHIN_S: Final = 1.0  # a request does not wait longer for a counter or a service
_SOURCE, _TYPE = "rewards", "asked"  # of the facts of a request


class RewardMember(NamedTuple):
    """A member who asks for a reward. `facts` are of an event that happens now and was not counted."""

    member_id: str
    standing: Standing
    facts: Event
    zone: ZoneInfo
    position: Position | None = None

    @classmethod
    def of(cls, reward: Reward, member_id: str, standing: Standing, now: datetime) -> "RewardMember":
        facts = Event(_SOURCE, _TYPE, reward.name, member_id, reward.country, now, {})
        return cls(member_id, standing, facts, reward.zone)

    @property
    def at(self) -> datetime:
        return self.facts.occurred_at


def reward_facts(*, segments: InSegments, counters: CounterFacts, services: AskService) -> FactRegistry[RewardMember]:
    """Everything that a rule of a reward may look up."""
    asked = _Briefly[RewardMember](counters), _Briefly[RewardMember](ServiceFacts(services))
    return FactRegistry(SegmentFacts(segments), KnownMembers(), *asked)


class KnownMembers:
    """What is known of a member before a rule asks."""

    @property
    def origin(self) -> Origin:
        return MEMBER

    async def load(self, wanted: Sequence[Wish[RewardMember]]) -> list[Found]:
        return [_value(subject.standing, side.text) for subject, side in wanted]


class _Briefly(Generic[SubjectT]):
    """A source that is away or slow tells nothing now, and holds up no rule that does without it."""

    def __init__(self, source: FactSource[SubjectT]) -> None:
        self._source = source

    @property
    def origin(self) -> Origin:
        return self._source.origin

    async def load(self, wanted: Sequence[Wish[SubjectT]]) -> Sequence[Found]:
        try:
            async with asyncio.timeout(_LOOK_WITHIN_S):
                return await self._source.load(wanted)
        except (Unavailable, TimeoutError):
            return [NOT_NOW] * len(wanted)


def _value(standing: Standing, text: str) -> Found:
    if text == TIER:
        return standing.tier
    return standing.balance if text == BALANCE else standing.country
