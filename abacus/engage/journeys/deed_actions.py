"""The actions of a deed that was decided for many members: each says what the member's own entry makes of it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import orjson

from abacus.core.errors import LineStopped, SetAside, Unavailable
from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.effects import Standing, planned
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.decide.visit import Effect, Visitor, effect_key
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard


class Unfolded(NamedTuple):
    """Actions that are to be done, each with the member's seat. `without` has the seats of members whose action cannot
    be made, each with the fault.
    """

    made: Sequence[tuple[Seat, PlannedAction]]
    without: Sequence[tuple[Seat, str]]


class DeedActions:
    """Makes actions of deeds, by the version and the card of the time at which they were decided."""

    def __init__(
        self,
        version_of: Callable[[str, int], Awaitable[Journey]],
        versions: ArmedVersions,
        cards: Callable[[], CardBook],
    ) -> None:
        self._version_of = version_of
        self._versions = versions
        self._cards = cards

    async def __call__(self, deed: DeedRow, seats: Sequence[Seat]) -> Unfolded:
        """Raises `Unavailable`."""
        journey = await self._version_of(deed.journey, deed.version)
        try:
            card = self._cards().in_force(journey.country, deed.at)
        except SetAside as fault:
            raise Unavailable("journeys", f"{journey.label}: {fault.detail}") from fault
        made, without = list[tuple[Seat, PlannedAction]](), list[tuple[Seat, str]]()
        for seat in seats:
            try:
                made.append((seat, self._action(journey, deed, seat, card)))
            except (Unavailable, LineStopped):
                raise
            except Exception as fault:  # noqa: BLE001  # whatever it is, it is done for the others
                without.append((seat, f"{type(fault).__name__}: {fault}"))
        return Unfolded(made, without)

    def _action(self, journey: Journey, deed: DeedRow, seat: Seat, card: PublishedCard) -> PlannedAction:
        """Raises for an event, by which the member came in, that does not fit its source any more, and for a context
        that does not fit the version.
        """
        node = journey.by_number[deed.node]
        assert isinstance(node.part, Do)  # noqa: S101  # of a version that never changes
        context = {} if seat.context is None else read_context(orjson.loads(seat.context), journey.context)
        visitor = Visitor(seat.member_id, seat.visit, self._versions.event_of(seat), context, deed.arm)
        key = effect_key(journey.name, visitor, node, deed.turn)
        effect = Effect(key, node, deed.turn, node.part.deed, deed.arm)
        return planned(effect, Standing(journey, visitor, card, BASE_TIER), deed.at)
