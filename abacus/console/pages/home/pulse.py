"""Points a minute and how long they took to come, as charts of the first page."""

from collections.abc import Sequence
from dataclasses import dataclass

from abacus.console.web.calls import Call
from abacus.console.web.parts import Part
from abacus.intake.pulse.decide.steps import Beat, Range, beats
from abacus.intake.pulse.store import PulseStore
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class Pulse:
    """The steps of the range, the last of which is under way."""

    range: Range
    beats: Sequence[Beat]

    @property
    def times(self) -> Sequence[int]:
        """When each step began, in seconds since 1970."""
        return [int(each.since.timestamp()) for each in self.beats]

    @property
    def has_posted(self) -> bool:
        return any(each.awards for each in self.beats)


async def pulse(call: Call) -> Part[Pulse] | None:
    """Of the countries that the person sees; an hour, unless another range is asked for."""
    if not call.may_somewhere(Deed.SEE):
        return None
    asked = call.asked("range")
    range_ = Range(asked) if asked in set(Range) else Range.HOUR

    async def read() -> Pulse:
        store, countries = PulseStore(call.reading.pool), call.countries(Deed.SEE)
        sums = await store.since(range_.step, range_.begins(call.now), countries)
        return Pulse(range_, beats(sums, range_, call.now))

    return await call.part(read())
