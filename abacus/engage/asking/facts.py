"""What rules about members who ask look up: what is known already, segments, counters, and what services say."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Generic, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from abacus.core.errors import Unavailable
from abacus.engage.asking.types import Standing
from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.decide.catalog import BALANCE, MEMBER, TIER
from abacus.signals.facts.members import InSegments, SegmentFacts
from abacus.signals.facts.types import NOT_NOW, FactRegistry, FactSource, Found, SubjectT, Wish
from abacus.signals.rules.decide.types import Origin

_LOOK_WITHIN_S: Final = 1.0  # a request does not wait longer for a counter or a service
_TYPE: Final = "asked"  # of the facts of a request


class OfCountry(Protocol):
    """What is asked for, such as a reward."""

    @property
    def name(self) -> str: ...
    @property
    def country(self) -> str: ...
    @property
    def zone(self) -> ZoneInfo: ...


class AskingMember(NamedTuple):
    """A member who asks for something. `facts` are of an event that happens now and was not counted."""

    member_id: str
    standing: Standing
    facts: Event
    zone: ZoneInfo
    position: Position | None = None

    @classmethod
    def of(cls, kind: str, asked: OfCountry, member_id: str, standing: Standing, now: datetime) -> "AskingMember":
        """`kind` names all things of the kind that is asked for, such as rewards."""
        facts = Event(kind, _TYPE, asked.name, member_id, asked.country, now, {})
        return cls(member_id, standing, facts, asked.zone)

    @property
    def at(self) -> datetime:
        return self.facts.occurred_at


def asking_facts(*, segments: InSegments, counters: CounterFacts, services: AskService) -> FactRegistry[AskingMember]:
    """Everything that such a rule may look up."""
    asked = _Briefly[AskingMember](counters), _Briefly[AskingMember](ServiceFacts(services))
    return FactRegistry(SegmentFacts(segments), KnownMembers(), *asked)


class KnownMembers:
    """What is known of a member before a rule asks."""

    @property
    def origin(self) -> Origin:
        return MEMBER

    async def load(self, wanted: Sequence[Wish[AskingMember]]) -> list[Found]:
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
