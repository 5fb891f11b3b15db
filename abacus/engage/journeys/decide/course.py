"""One member's way through a journey as it would go: each walk with its decisions, by the clock and by events that are
assumed. Pure: nothing is done, and what is known of the member stays as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.journeys.decide.armed import Armed, ArmedOccasion
from abacus.engage.journeys.decide.visit import Effect, Left, Passed, Stop, Visitor, Waiting, Why, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Side

MOST_LEGS: Final = 200
_A_TURN: Final = timedelta(minutes=1)  # how long a member waits for its turn, as far as this is concerned

LookedUp: TypeAlias = Mapping[str, Value | AtLeast | None]


class Leg(NamedTuple):
    """A walk at a moment, what woke the member, and where it came to a stop."""

    at: datetime
    woken: Woken
    trail: Sequence[Passed]
    effects: Sequence[Effect]
    stop: Stop


class Course:
    """A member's way from its entry on, until it leaves, or to the last of `MOST_LEGS`. A rule that does not hold is
    not looked at anew: what is known does not change.
    """

    def __init__(self, armed: Armed, visitor: Visitor, now: datetime, events: Iterable[Event] = ()) -> None:
        """`events` are assumed to happen to the member, each at its time."""
        self._armed = armed
        self._visitor = visitor
        self._events = sorted(events, key=lambda event: event.occurred_at)
        self._known: dict[str, Value | AtLeast | None] = {}
        self._walk = Walk(armed, visitor, now)
        self._now = now
        self._woken = Woken.ENTERED
        self.legs: list[Leg] = []

    def go(self, looked_up: LookedUp) -> Side | None:
        """As `Walk.go`; None where the way is at its end."""
        self._known.update(looked_up)
        while True:
            if self._walk.stop is None and (wanted := self._walk.go(self._known)) is not None:
                return wanted
            stop = self._walk.stop
            assert stop is not None  # noqa: S101  # a walk that wants nothing has come to a stop
            if not self.legs or self.legs[-1].stop is not stop:
                self.legs.append(Leg(self._now, self._woken, self._walk.trail, self._walk.effects, stop))
            if isinstance(stop, Left) or len(self.legs) == MOST_LEGS:
                return None
            wanted = self._on(stop)
            if wanted is not None:
                return wanted

    def _on(self, waiting: Waiting) -> Side | None:
        """To what happens next: an event that matters, or the end of the wait."""
        over = self._now + _A_TURN if waiting.over is None else waiting.over
        while self._events and self._events[0].occurred_at <= over:
            event = self._events[0]
            wanted, matters = self._happens(waiting, event) if event.occurred_at >= self._now else (None, False)
            if wanted is not None:
                return wanted
            self._events.pop(0)
            if matters:
                return None
        self._next(waiting, over, Woken.DUE)
        return None

    def _happens(self, waiting: Waiting, event: Event) -> tuple[Side | None, bool]:
        """The left side whose value is lacking, and whether the event matters: the member leaves by it, or waited for
        it.
        """
        for reason, occasion in self._armed.leaves_by.items():
            wanted, meant = self._meant(occasion, event)
            if meant:
                self._leave(reason, event)
            if wanted is not None or meant:
                return wanted, meant
        if waiting.why is not Why.EVENT:
            return None, False
        wanted, meant = self._meant(self._armed.occasions[waiting.place.node], event)
        if meant:
            self._next(waiting, event.occurred_at, Woken.EVENT)
        return wanted, meant

    def _meant(self, occasion: ArmedOccasion, event: Event) -> tuple[Side | None, bool]:
        """The left side whose value is lacking, and whether the event is one of the occasion."""
        if (event.source, event.type) not in occasion.on:
            return None, False
        if occasion.plan is None:
            return None, True
        decision = occasion.plan.decide(event, {**self._context(), **self._known})
        return decision.wanted, bool(decision.holds)

    def _context(self) -> LookedUp:
        return {f"context.{name}": value for name, value in self._visitor.context.items()}

    def _next(self, waiting: Waiting, at: datetime, woken: Woken) -> None:
        self._visitor = replace(self._visitor, arm=self._walk.arm)
        self._now, self._woken = at, woken
        self._walk = Walk(self._armed, self._visitor, at, at=waiting.place, woken=woken)

    def _leave(self, reason: str, event: Event) -> None:
        self._now, self._woken = event.occurred_at, Woken.EVENT
        self._walk = Walk(self._armed, self._visitor, self._now)
        self._walk.stop = Left(reason, None)
