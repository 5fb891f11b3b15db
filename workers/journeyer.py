"""Lets members into journeys by events, and moves them on when their time or an event has come."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.journeys.wiring import journeyer
from abacus.ledger.store.read import LedgerReader

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = partial(journeyer, standings_of=lambda pool: LedgerReader(pool).standings_of)
