"""Journeys in Postgres: a store of versions with states, in which each node has a number for ever."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.core.recent import Recent
from abacus.documents.decide.states import Status
from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyHead, JourneyPublications
from abacus.engage.journeys.kind import JOURNEYS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.signals.events.types import VariableType

JourneyRecord: TypeAlias = Stated[Journey]

MOST_NODES: Final = 10_000  # of versions in memory, of which each takes one to three kilobytes
_AT_ONCE: Final = 100  # versions that are read

# Of the version in force, or else of the newest.
_HEADS: Final = Statement(f"""
select distinct on (name) name, country, document -> 'entry' ? 'api' as by_call,
    coalesce(document -> 'context', '{{}}')::text as context
from journey
where status <> '{Status.ENDED}' and ends_at > :now
order by name, status in ('{Status.APPROVED}', '{Status.PAUSED}') desc, version desc
""")


class JourneyStore(StatedStore[Journey, JourneyPublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, JOURNEYS)

    async def heads(self, now: datetime) -> Mapping[str, JourneyHead]:
        """The journeys that are not over, by name."""
        async with passing_failures():
            rows = await self._pool.fetch(*_HEADS(now=now))
        return {
            name: JourneyHead(country, _context(text) if by_call else None) for name, country, by_call, text in rows
        }


class JourneyVersions:
    """Approved versions: members stay on the version by which they entered. The versions that were used last are kept,
    of so many nodes together at most, and others are read again. What is not approved yet is not kept, because its
    approval is a part of it.
    """

    def __init__(self, store: JourneyStore, most_nodes: int = MOST_NODES) -> None:
        self._store = store
        self._known: Recent[tuple[str, int], Journey] = Recent(most_nodes)

    async def of(self, name: str, version: int) -> Journey:
        """Raises `Unavailable`, also while no such version is approved yet."""
        place = name, version
        if (known := self._known.get(place)) is not None:
            return known
        async for journey in self.these([place]):
            self._known.put(place, journey, len(journey.nodes))
            return journey
        raise Unavailable("journeys", f"no {name}@{version} is approved")

    async def these(self, places: Sequence[tuple[str, int]]) -> AsyncIterator[Journey]:
        """Those of these versions that are approved; they are read, and not kept. Raises `Unavailable`."""
        for first in range(0, len(places), _AT_ONCE):
            for each in await self._store.find(places[first : first + _AT_ONCE]):
                if each.approved_at is not None:
                    yield each.document


def _context(text: str) -> Mapping[str, VariableType]:
    return {name: VariableType(type_) for name, type_ in json.loads(text).items()}
