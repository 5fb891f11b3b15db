"""What events do to journeys: they move members who are inside, and let members in."""

from collections.abc import Callable, Sequence

from abacus.engage.journeys.decide.apart import one_of_each
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.gate import Comer
from abacus.engage.journeys.late_entries import LateEntries
from abacus.engage.journeys.late_moves import LateMoves
from abacus.platform.following.passing_over import PassedOver
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Event


class Happenings:
    """Every method raises `Unavailable`. What is tried again has the same outcome."""

    def __init__(self, running: Callable[[], Running], moves: LateMoves, entries: LateEntries) -> None:
        self._running = running
        self._moves = moves
        self._entries = entries

    async def happen(self, events: Sequence[Event], over: PassedOver) -> None:
        """Hears events in their order, a member's one after the other. Members of slices that are passed `over` are
        left out.
        """
        for some in one_of_each((each for each in events if each.member_id is not None), _member):
            running = self._running()
            types: dict[str, set[EventType]] = {}
            for version in running.versions:
                types.setdefault(version.name, set()).update(version.moving)
            for name, moved_by in types.items():
                moving = [each for each in some if (each.source, each.type) in moved_by]
                await self._moves.move(name, running.approved[name][-1], moving, over)
            for journey in running.entering():
                await self._enter(journey, some, over)

    async def _enter(self, journey: Journey, events: Sequence[Event], over: PassedOver) -> None:
        on = journey.entry.on
        comers = [Comer(each.key, each) for each in events if (each.source, each.type) in on]
        await self._entries.let_in(journey, comers, over)


def _member(event: Event) -> str:
    return event.member_id or ""
