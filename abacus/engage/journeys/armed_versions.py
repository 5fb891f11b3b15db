"""The versions by which members walk, ready to be walked."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from abacus.core.recent import Recent
from abacus.engage.journeys.decide.armed import Armed, arm
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.journey_store import MOST_NODES
from abacus.signals.events.decide.event_reader import EventReader, own_reader
from abacus.signals.events.types import Event


class ArmedVersions:
    """Members stay on the version by which they entered. A version is armed when it is used, and anew when something
    that is published beside journeys has changed, or its texts. The versions that were used last are kept.
    """

    def __init__(
        self,
        version_of: Callable[[str, int], Awaitable[Journey]],
        around: Callable[[], JourneyPublications],
        most_nodes: int = MOST_NODES,
    ) -> None:
        """`around` gives the same object until something changes. `most_nodes` are kept, of all versions together."""
        self._version_of = version_of
        self._around = around
        self._armed_by: JourneyPublications | None = None
        self._armed: Recent[tuple[str, int], Armed] = Recent(most_nodes)
        self._reader: EventReader | None = None

    async def of(self, name: str, version: int) -> Armed:
        """Raises `Unavailable`, and `DocumentFaults` where the version does not fit what is published now."""
        around, place = self._read_around(), (name, version)
        journey = await self._version_of(name, version)
        if (known := self._armed.get(place)) is not None and _is_same(known.journey, journey):
            return known
        armed = arm(journey, around)
        if around is self._armed_by:  # nothing changed meanwhile
            self._armed.put(place, armed, len(armed.journey.nodes))
        return armed

    def event_of(self, seat: Seat) -> Event:
        """The event by which the member entered; without one, an event with the member, the country and the time alone.
        Raises `Unavailable`, and `SetAside` where it does not fit its source any more.
        """
        nothing = Event("", "", seat.key, seat.member_id, seat.country, seat.entered_at, {})
        return nothing if seat.event is None else self.read_event(seat.event, seat.entered_at) or nothing

    def read_event(self, body: bytes, at: datetime) -> Event | None:
        """An event that is kept as JSON; None where no source takes it any more. Raises as `event_of`."""
        self._read_around()
        return self._reader.read(body, at) if self._reader is not None else None

    def _read_around(self) -> JourneyPublications:
        around = self._around()
        if around is not self._armed_by:
            self._armed_by = around
            self._armed.clear()
            self._reader = own_reader(around.beside.sources.values())
        return around


def _is_same(known: Journey, journey: Journey) -> bool:
    """Whether nothing was corrected since. A version that was read once more is another object."""
    return known is journey or known == journey
