"""Versions with the texts by which they were corrected."""

from collections.abc import Awaitable, Callable, Sequence

from abacus.core.recent import Recent
from abacus.engage.journeys.decide.correction import corrects, with_texts
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.journey_store import MOST_NODES


class CorrectedVersions:
    """Members finish on the version by which they entered, and are told what its newest correction says.

    `approved` has the versions of a journey that runs, in their order.
    """

    def __init__(
        self,
        version_of: Callable[[str, int], Awaitable[Journey]],
        approved: Callable[[str], Sequence[int]],
        most_nodes: int = MOST_NODES,
    ) -> None:
        self._version_of = version_of
        self._approved = approved
        self._known: Recent[tuple[str, int], tuple[Sequence[int], Journey]] = Recent(most_nodes)

    async def of(self, name: str, version: int) -> Journey:
        """Raises `Unavailable`, also while no such version is approved yet."""
        approved, place = self._approved(name), (name, version)
        if (known := self._known.get(place)) is not None and known[0] == approved:
            return known[1]
        journey = await self._corrected(name, version, approved)
        self._known.put(place, (approved, journey), len(journey.nodes))
        return journey

    async def _corrected(self, name: str, version: int, approved: Sequence[int]) -> Journey:
        journey = await self._version_of(name, version)
        for number in reversed(approved):
            if number <= version:
                break
            newer = await self._version_of(name, number)
            if corrects(journey, newer):
                return with_texts(journey, newer)
        return journey
