"""The versions by which members walk, ready to be walked."""

from collections.abc import Awaitable, Callable

from abacus.engage.journeys.decide.armed import Armed, arm
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.seat import Seat
from abacus.signals.events.decide.event_reader import EventReader, own_reader
from abacus.signals.events.types import Event


class ArmedVersions:
    """Members stay on the version by which they entered. A version is armed once, and anew when something that is
    published beside journeys has changed.
    """

    def __init__(
        self, version_of: Callable[[str, int], Awaitable[Journey]], around: Callable[[], JourneyPublications]
    ) -> None:
        """`around` gives the same object until something changes."""
        self._version_of = version_of
        self._around = around
        self._armed_by: JourneyPublications | None = None
        self._armed: dict[tuple[str, int], Armed] = {}
        self._reader: EventReader | None = None

    async def of(self, name: str, version: int) -> Armed:
        """Raises `Unavailable`, and `DocumentFaults` where the version does not fit what is published now."""
        around, place = self._read_around(), (name, version)
        if place not in self._armed:
            armed = arm(await self._version_of(name, version), around)
            if around is not self._armed_by:  # something changed meanwhile
                return armed
            self._armed[place] = armed
        return self._armed[place]

    def event_of(self, seat: Seat) -> Event:
        """The event by which the member entered; without one, an event with the member, the country and the time alone.
        Raises `Unavailable`, and `SetAside` where it does not fit its source any more.
        """
        nothing = Event("", "", seat.key, seat.member_id, seat.country, seat.entered_at, {})
        if seat.event is None:
            return nothing
        self._read_around()
        reader = self._reader
        return (reader.read(seat.event, seat.entered_at) if reader is not None else None) or nothing

    def _read_around(self) -> JourneyPublications:
        around = self._around()
        if around is not self._armed_by:
            self._armed_by, self._armed = around, {}
            self._reader = own_reader(around.beside.sources.values())
        return around
