"""How the rate cards in use are put together."""

from abacus.platform.metrics import CARDS_AGE
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.pricing.kind import CARDS
from abacus.pricing.store.cards import CardReader, CardStore


def cards_in_use(wiring: Wiring, pool: Pool, *, may_be_empty: bool = False) -> CardReader:
    cards = CardReader(CardStore(pool).all, may_be_empty=may_be_empty)
    CARDS_AGE.set_function(lambda: cards.age_s)
    return wiring.keep(cards, on=(CARDS.table.name,))
