"""What rules of journeys look up: facts about members, and what they have had of campaigns and of journeys."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from abacus.engage.campaigns.decide.progress import NONE, WHOLE, ProgressPlace, told
from abacus.engage.campaigns.decide.vocabulary import CAMPAIGN
from abacus.engage.campaigns.progress_rows import read_progress
from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.engage.journeys.decide.sides import JOURNEY, ZONE
from abacus.engage.notify.preferences import zones_of
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import MemberFacts, SegmentFacts, in_reach
from abacus.signals.facts.types import FactRegistry, Found, ToldAlike, Wish
from abacus.signals.rules.decide.types import Side
from abacus.signals.segments.sets import Pair
from abacus.signals.segments.types import Members


class JourneySubject(NamedTuple):
    """A member in a journey, at a moment. `facts` is the event by which it entered, or the event that a wait or an exit
    is about; `zone` is that of the journey, and `program` that of its country.
    """

    member_id: str
    facts: Event
    program: str
    at: datetime
    zone: ZoneInfo
    position: Position | None = None
    number: int | None = None  # the member's, where it is known

    @property
    def account(self) -> AccountId:
        return self.member_id, self.program


class InSegmentsByNumber(Protocol):
    """The members of segments: by pairs of segment and member, and by numbers."""

    async def look(self, pairs: Collection[Pair]) -> dict[Pair, bool]: ...

    async def sets(self, names: Collection[str]) -> Mapping[str, Members]: ...


class NumberedSegmentFacts(SegmentFacts):
    """Whether segments have members whose numbers are known."""

    def __init__(self, segments: InSegmentsByNumber) -> None:
        super().__init__(segments.look)
        self._sets = segments.sets

    async def load_for_all(self, subjects: Sequence[JourneySubject], sides: Sequence[Side]) -> list[ToldAlike]:
        """Members of the same segments are told alike."""
        sets = await self._sets([side.name for side in sides])
        numbers = [each.number for each in subjects]
        asked = Members([each for each in numbers if each is not None])
        within = dict.fromkeys(asked, 0)  # a bit for each segment
        for place, side in enumerate(sides):
            for number in asked & sets[side.name]:
                within[number] |= 1 << place
        alike: defaultdict[int, list[int]] = defaultdict(list)
        for place, asked_for in enumerate(numbers):
            alike[0 if asked_for is None else within[asked_for]].append(place)
        return [
            ToldAlike({side.text: bool(bits >> place & 1) for place, side in enumerate(sides)}, places)
            for bits, places in alike.items()
        ]


class CampaignFacts:
    """How often campaigns did something for the member, and the points that it got there."""

    origin: Final = CAMPAIGN

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        return await in_reach(self._pool, wanted, self._load)

    async def _load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        asked = [(subject.member_id, *side.name.rpartition(".")[::2]) for subject, side in wanted]
        places = [ProgressPlace(member_id, campaign, WHOLE) for member_id, campaign, _ in asked]
        async with slices.at(self._pool, places[0].member_id) as connection:
            progress = await read_progress(connection, sorted(set(places)))
        return [
            told(progress.get(place, NONE), f"{CAMPAIGN.name}.{word}")
            for place, (_, _, word) in zip(places, asked, strict=True)
        ]


class Been(NamedTuple):
    """How often a member was in a journey, and whether it is inside."""

    visits: int = 0
    inside: bool = False


# What is known of members in journeys, by their ids and the names of the journeys. Raises `Unavailable`.
BeenIn: TypeAlias = Callable[[Collection[tuple[str, str]]], Awaitable[Mapping[tuple[str, str], Been]]]


class JourneyFacts:
    """How often the member was in a journey, and whether it is inside."""

    origin: Final = JOURNEY

    def __init__(self, pool: Pool, been_in: BeenIn) -> None:
        self._pool = pool
        self._been_in = been_in

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        return await in_reach(self._pool, wanted, self._load)

    async def _load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        asked = [(subject.member_id, *side.name.rpartition(".")[::2]) for subject, side in wanted]
        been = await self._been_in({(member_id, journey) for member_id, journey, _ in asked})
        found: list[Found] = []
        for member_id, journey, word in asked:
            known = been.get((member_id, journey), Been())
            found.append(known.visits if word == "visits" else known.inside)
        return found


class ZoneFacts:
    """The zones that members have named. Waits ask for them."""

    origin: Final = ZONE

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        return await in_reach(self._pool, wanted, self._load)

    async def _load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        members = {subject.member_id for subject, _ in wanted}
        async with slices.at(self._pool, wanted[0][0].member_id) as connection:
            zones = await zones_of(connection, members)
        return [zones.get(subject.member_id) for subject, _ in wanted]


def journey_facts(
    pool: Pool,
    *,
    members: MemberFacts,
    counters: CounterFacts,
    segments: InSegmentsByNumber,
    services: AskService,
    been_in: BeenIn,
) -> FactRegistry[JourneySubject]:
    """Everything that a rule of a journey may look up."""
    return FactRegistry(
        NumberedSegmentFacts(segments),
        members,
        CampaignFacts(pool),
        JourneyFacts(pool, been_in),
        ZoneFacts(pool),
        counters,
        ServiceFacts(services),
    )
