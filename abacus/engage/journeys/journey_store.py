"""Journeys in Postgres: a store of versions with states, in which each node has a number for ever."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
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
    """The approved versions that this process has read: members stay on the version by which they entered. What is not
    approved yet is not kept, because its approval is a part of it.
    """

    def __init__(self, store: JourneyStore) -> None:
        self._store = store
        self._known: dict[tuple[str, int], Journey] = {}

    async def of(self, name: str, version: int) -> Journey:
        """Raises `Unavailable`, also while no such version is approved yet."""
        place = name, version
        if place not in self._known:
            history = await self._store.history(name)
            approved = [each.document for each in history if each.approved_at is not None]
            self._known |= {(name, each.version): each for each in approved}
        if place not in self._known:
            raise Unavailable("journeys", f"no {name}@{version} is approved")
        return self._known[place]


def _context(text: str) -> Mapping[str, VariableType]:
    return {name: VariableType(type_) for name, type_ in json.loads(text).items()}
