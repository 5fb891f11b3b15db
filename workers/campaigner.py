"""Decides events for campaigns, and does what they and journeys have decided when its time has come."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.campaigns.wiring import campaigner
from abacus.engage.journeys.decide.journey import OWNER_KIND as OF_JOURNEYS
from abacus.engage.journeys.wiring import journey_news, stopped_actions
from abacus.ledger.store.counted_moves import CountedMoves
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA, Service.SQS})
wire = partial(
    campaigner,
    standings_of=lambda pool: LedgerReader(pool).standings_of,
    others_news={OF_JOURNEYS: journey_news},
    others_stopped={OF_JOURNEYS: stopped_actions},
    moves_of=lambda pool, clock: CountedMoves(PostgresMoves(pool, clock)),
)
