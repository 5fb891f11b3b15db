"""Looks up `external.NAME`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from abacus.engage.downstreams.decide.question import EXTERNAL
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import Found, NotNow, Subject, Wish

# The values of a service for some events, in order. Raises `Unavailable`.
AskService: TypeAlias = Callable[[str, Sequence[Event]], Awaitable[Sequence[Value | NotNow | None]]]


class AnEvent(Subject, Protocol):
    """An event, which a service is asked about."""

    @property
    def facts(self) -> Event: ...


class ServiceFacts:
    """What services say of events."""

    origin: Final = EXTERNAL

    def __init__(self, ask: AskService) -> None:
        self._ask = ask

    async def load(self, wanted: Sequence[Wish[AnEvent]]) -> list[Found]:
        """Each service is asked about all of its events together."""
        places: dict[str, list[int]] = {}
        for place, (_, side) in enumerate(wanted):
            places.setdefault(side.name, []).append(place)
        found: dict[int, Found] = {}
        for name, of_service in places.items():
            values = await self._ask(name, [wanted[place][0].facts for place in of_service])
            found |= dict(zip(of_service, values, strict=True))
        return [found[place] for place in range(len(wanted))]
