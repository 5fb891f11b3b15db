"""How posting awards is put together."""

from collections.abc import Callable
from functools import partial
from typing import Final

from abacus.intake.awarding.awarder import LATER_S, Awarder, hands_for
from abacus.intake.awarding.counted import CountedLedger, CountedRefunds
from abacus.intake.awarding.door import Campaigns, Door
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.tally import Tally
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.counted_moves import CountedMoves
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import AWARD
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use

CONNECTIONS: Final = 4


async def awarder(wiring: Wiring, campaigns_of: Callable[[Pool], Campaigns]) -> Run:
    pool, clock = await wiring.pool(size=CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True), wiring.clock
    door = Door(cards_in_use(wiring, pool), clock, wiring.verifier(), campaigns_of(pool))
    tally = Tally(PulseStore(pool), clock)
    wiring.at_the_end(tally.write)
    wiring.beside(tally.keep_writing())
    queue = await wiring.queue(await wiring.sqs(), AWARD)
    later, claimed = partial(queue.send, delay_s=LATER_S), ClaimedKeys()
    posting = Awarder(
        door,
        CountedLedger(PostgresLedger(pool, clock, claimed), clock, tally),
        CountedRefunds(CountedMoves(PostgresMoves(pool, clock, claimed))),
        CountedQuarantine(QuarantineStore(pool, clock)),
        later=later,
    )
    return QueueConsumer(queue, posting.handle, wiring.health, hands=hands_for(await wiring.slice_map(pool))).run
