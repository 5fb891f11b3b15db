"""Looks up what many members need at once: what they want of the cheapest origin is loaded in one call."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from abacus.core.errors import Unavailable
from abacus.engage.journeys.facts import JourneySubject
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import NOT_NOW, FactRegistry
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Looked, RulePlan
from abacus.signals.rules.decide.types import Origin, Side

FACTS: Final = "facts"  # what is unavailable where something cannot be told now

Known = Mapping[str, Value | AtLeast | None]


class Untold(Unavailable):
    """Something cannot be told now of members, by their ids and the keys of what brings them in or moves them: of
    these, and of nobody else.
    """

    def __init__(self, detail: str, places: Iterable[tuple[str, str]]) -> None:
        super().__init__(FACTS, detail)
        self.places = frozenset(places)


class Goer(Protocol):
    """Goes on by values that were looked up, until it wants no other."""

    def go(self, looked_up: Known, /) -> Side | None: ...


class Asks(NamedTuple):
    """A member, and what is decided for the member."""

    subject: JourneySubject
    goer: Goer


class Occurs:
    """Whether a rule holds for an event."""

    def __init__(self, plan: RulePlan | None, event: Event, known: Known) -> None:
        """Without a plan each event is meant."""
        self._plan = plan
        self._event = event
        self._known = dict(known)
        self.holds = plan is None
        self.looked: Sequence[Looked] = ()

    def go(self, looked_up: Known, /) -> Side | None:
        if self._plan is None:
            return None
        self._known.update(looked_up)
        decision = self._plan.decide(self._event, self._known)
        self.holds, self.looked = bool(decision.holds), decision.looked
        return decision.wanted


async def ask(asking: Sequence[Asks], facts: FactRegistry[JourneySubject]) -> frozenset[int]:
    """Lets all go on; the places of those for which a value cannot be told now. Raises `Unavailable`."""
    wanted = {place: side for place, each in enumerate(asking) if (side := each.goer.go({})) is not None}
    given_up: set[int] = set()
    while wanted:
        origins = {place: _origin(side) for place, side in wanted.items()}
        cheapest = min(origins.values(), key=lambda origin: origin.cost)
        now = [place for place, origin in origins.items() if origin == cheapest]
        values = await facts.load(cheapest, [(asking[place].subject, wanted[place]) for place in now])
        for place, value in zip(now, values, strict=True):
            side = wanted.pop(place)
            if value is NOT_NOW:
                given_up.add(place)
            elif (other := asking[place].goer.go({side.text: value})) is not None:
                wanted[place] = other
    return frozenset(given_up)


def _origin(side: Side) -> Origin:
    assert isinstance(side.place, Origin)  # noqa: S101  # nothing else is looked up
    return side.place
