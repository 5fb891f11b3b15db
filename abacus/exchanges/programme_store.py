"""Programmes in Postgres: a store of versions with states."""

from typing import TypeAlias

from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.kind import PROGRAMMES
from abacus.platform.postgres import Pool

ProgrammeRecord: TypeAlias = Stated[Programme]


class ProgrammeStore(StatedStore[Programme, ExchangePublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, PROGRAMMES)
