"""Lets members of segments into journeys: all who are in one at a time, and where the journey asks for it, members who
join later, each once for each time that it joins. A page of members at a time, so that a herd needs no memory, and a
process that dies leaves the rest to the next one. Members of a slice whose server is away are passed over, and come
when it is back.
"""

from datetime import datetime

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.engage.journeys.decide.entry import OfSegment
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.gate import comer
from abacus.engage.journeys.wave_gate import WaveGate
from abacus.engage.journeys.wave_rows import Wave, WaveStore
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import SegmentStore
from abacus.signals.segments.types import NOBODY, Members, Segment


class SegmentWaves:
    """For one process at a time. Every method raises `Unavailable`."""

    def __init__(self, gate: WaveGate, page: int, *, pool: Pool, clock: Clock) -> None:
        """`page` is the number of members who come at once."""
        self._gate = gate
        self._page = page
        self._segments = SegmentStore(pool)
        self._numbers = MemberNumbers(pool)
        self._waves = WaveStore(pool)
        self._clock = clock
        self._known: dict[tuple[str, str], Wave] = {}
        self._over = PassedOver(pool)

    def forget(self) -> None:
        """Another process may have led meanwhile."""
        self._known.clear()

    async def step(self, journey: Journey) -> int:
        """The next page of members of the journey's segment; the number of them, 0 when nobody is left for now."""
        how, now = journey.entry.how, self._clock.now()
        if not isinstance(how, OfSegment):
            return 0
        at = how.at or journey.starts_at
        if not max(at, journey.starts_at, journey.approved_at) <= now < journey.ends_at:
            return 0
        try:
            await self._over.look()
        except StartAgain:  # from where nobody was passed over; who has entered meanwhile does not enter again
            self._known.clear()
        name = f"{how.segment} at {at.isoformat()}"
        wave = await self._wave(journey, how, name, at)
        numbers = wave.following(self._page)
        if not numbers:
            return 0
        members = await self._numbers.members(numbers)
        key = f"segment:{how.segment}@{wave.version}:{at.isoformat()}"
        await self._gate.let_in(journey, [comer(journey, key, each, now) for each in members], self._over)
        if not self._over.passes:
            await self._waves.move(journey.name, name, numbers[-1])
        self._known[journey.name, name] = wave._replace(upto=numbers[-1])
        return len(numbers)

    async def _wave(self, journey: Journey, how: OfSegment, name: str, at: datetime) -> Wave:
        """The present wave; the next one where the present one is through."""
        place = journey.name, name
        wave = self._known.get(place) or await self._waves.read(*place)
        if wave is None:
            wave = await self._first(how.segment, at)
            await self._waves.write(*place, wave)
        elif how.and_later and not wave.following(1) and not self._over.passes:
            latest = await self._segments.find(how.segment)
            if latest is not None and latest.version > wave.version:
                wave = wave.after(latest.version, await self._members(latest))
                await self._waves.write(*place, wave)
        self._known[place] = wave
        return wave

    async def _first(self, segment: str, at: datetime) -> Wave:
        """Those who were in the segment at a time, or in the oldest version that is kept; nobody where there was none
        yet.
        """
        history = await self._segments.history(segment)
        then = next((each for each in history if each.created_at <= at), history[-1] if history else None)
        if then is None or (then.version == 1 and then.created_at > at):
            return Wave(0, NOBODY, NOBODY)
        present = await self._members(then)
        return Wave(then.version, present, present)

    async def _members(self, segment: Segment) -> Members:
        try:
            return (await self._segments.members(segment.label))[1]
        except Refused as fault:  # it is not kept any more
            raise Unavailable("segments", str(fault)) from fault
