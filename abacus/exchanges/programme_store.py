"""Programmes in Postgres: a store of versions with states."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.kind import PROGRAMMES
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

ProgrammeRecord: TypeAlias = Stated[Programme]

_PARTNERS: Final = Statement("""
select distinct on (name) name, document ->> 'partner' from exchange_programme
where approved_by is not null order by name, version desc
""")


class ProgrammeStore(StatedStore[Programme, ExchangePublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, PROGRAMMES)

    async def partners(self) -> Mapping[str, str]:
        """Of all programmes that are, or ever were, in force, by their names."""
        async with passing_failures():
            return dict(await self._pool.fetch(*_PARTNERS()))
