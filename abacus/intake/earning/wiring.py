"""How the calculation from transactions to awards is put together: from the stream, and from the retry queue."""

import random
from datetime import timedelta

from abacus.core.signature import Producer
from abacus.intake.earning.calculator import StreamCalculator
from abacus.intake.earning.counted import CountedIssuer
from abacus.intake.earning.decide.breaker import Breaker
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.issuer import PointsIssuer
from abacus.intake.earning.retrier import Retrier
from abacus.intake.earning.status import TRANSACTIONS
from abacus.ledger.store.read import LedgerReader
from abacus.platform.kafka.reader import StreamReader
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import Client
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore


async def calculator(wiring: Wiring) -> Run:
    settings = wiring.settings
    bootstrap = settings.required("kafka_bootstrap")
    issuer = await _issuer(wiring, await wiring.pool(size=4), await wiring.sqs(), Producer.CALCULATOR)
    group = f"{settings.queue_prefix}{TRANSACTIONS.group}"
    reader = StreamReader(bootstrap, settings.transactions_topic, group, wiring.health)
    return StreamCalculator(reader, issuer, Breaker(settings.quarantine_share), wiring.health).run


async def retrier(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=4)
    client = await wiring.sqs()
    issuer = await _issuer(wiring, pool, client, Producer.RETRIER)
    calculation = Retrier(issuer, CountedQuarantine(QuarantineStore(pool, wiring.clock)), wiring.verifier())
    return QueueConsumer(await wiring.queue(client, RETRY), calculation.handle, wiring.health).run


async def _issuer(wiring: Wiring, pool: Pool, client: Client, producer: Producer) -> PointsIssuer:
    clock = wiring.clock
    return CountedIssuer(
        cards=cards_in_use(wiring, pool),
        tiers=MembershipStore(pool, clock),
        postings=LedgerReader(pool),
        award_queue=wiring.signed_by(producer, await wiring.queue(client, AWARD)),
        retry_queue=wiring.signed_by(producer, await wiring.queue(client, RETRY)),
        quarantine=CountedQuarantine(QuarantineStore(pool, clock)),
        retry_policy=RetryPolicy(give_up_after=timedelta(hours=wiring.settings.retry_hours)),
        slice_map=await wiring.slice_map(pool),
        clock=clock,
        rng=random.Random(),
        health=wiring.health,
    )
