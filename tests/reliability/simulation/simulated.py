"""The simulated Abacus: stores and queues that outlive every crash, and workers that are built anew after each."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

from abacus.core.backoff import Backoff
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.awarding.door import Door
from abacus.intake.earning.calculator import StreamCalculator
from abacus.intake.earning.decide.breaker import Breaker
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.issuer import PointsIssuer
from abacus.intake.earning.retrier import Retrier
from abacus.platform.fresh_copy import Cadence
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import StreamReader
from abacus.platform.slices import SliceMap
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.pricing.store.cards import CardReader
from tests.reliability.simulation.cards import TIERS, published_cards
from tests.reliability.simulation.ledgers import LedgerInMemory, SimulatedLedger
from tests.reliability.simulation.life import Life
from tests.reliability.simulation.ports import (
    StormyCards,
    StormyConsumer,
    StormyLedger,
    StormyPostings,
    StormyPublisher,
    StormyQuarantine,
    StormyQueue,
    StormyTiers,
)
from tests.reliability.simulation.storm import PLACES, RELAY_PLACES, Storm, Trace
from tests.support.door import NOBODY_SIGNS
from tests.support.fixed_clock import FixedClock
from tests.support.memory_consumer import MemoryConsumer
from tests.support.memory_log import MemoryLog, MemoryPublisher
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue
from tests.support.memory_tiers import MemoryTiers

TRANSACTIONS: Final = "transactions"
GROUP: Final = "calculator"
_IDLE_MS: Final = 9000.0

Run = Callable[[asyncio.Event], Awaitable[None]]


class Worker(Protocol):
    """Runs until it is told to stop."""

    @property
    def run(self) -> Run: ...


@dataclass(frozen=True)
class Parts:
    """The product's parts as they run in the simulation. A test that the simulation can fail swaps one. Without a relay
    nothing is published; with one there are two relays, and one of them stands by.
    """

    reader: type[StreamReader] = StreamReader
    calculator: type[StreamCalculator] = StreamCalculator
    issuing: type[PointsIssuer] = PointsIssuer
    retrier: type[Retrier] = Retrier
    consumer: type[QueueConsumer] = QueueConsumer
    awarder: type[Awarder] = Awarder
    ledger: Callable[[FixedClock], SimulatedLedger] = LedgerInMemory
    relay: Callable[..., Worker] | None = None


class SimulatedAbacus:
    """Everything durable, and the making of workers on top of it. Sizes and delays are drawn by seed."""

    def __init__(self, seed: int, parts: Parts, clock: FixedClock, trace: Trace) -> None:
        chance = random.Random(f"house {seed}")
        self.parts = parts
        self.clock = clock
        self.chance = chance
        self.trace = trace
        self.storm = Storm(seed, trace, PLACES if parts.relay is None else RELAY_PLACES)
        self.log = MemoryLog(rebalance_s=chance.choice((15.0, 60.0)))
        self.award_queue = self._queue("award queue", visibility_s=30)
        self.retry_queue = self._queue("retry queue", visibility_s=60)
        self.quarantine = MemoryQuarantine(clock)
        self.ledger = parts.ledger(clock)
        self.tiers = MemoryTiers({account: tiers[0] for account, tiers in TIERS.items()})
        self.patient = chance.random() < 0.7
        self.lives: dict[str, Life] = {}
        self._retry_policy = RetryPolicy(
            timedelta(hours=24) if self.patient else timedelta(seconds=chance.uniform(30, 180)),
            Backoff(first_s=2.0, longest_s=chance.choice((20.0, 120.0))),
        )
        self._batch = chance.choice((3, 10, 30, 100))
        self._hands = chance.choice((1, 2))
        self._breaker_share = chance.choice((0.4, 1.0))

    @property
    def processes(self) -> Mapping[str, Callable[[Life, WorkerHealth], Run]]:
        return {
            "calculator-1": self.calculator,
            "calculator-2": self.calculator,
            "retrier": self.retrier,
            "awarder-1": self.awarder,
            "awarder-2": self.awarder,
            **({"relay-1": self.relay, "relay-2": self.relay} if self.parts.relay is not None else {}),
        }

    def calculator(self, life: Life, health: WorkerHealth) -> Run:
        address = f"{life.name}#{len(self.lives)}"
        self.lives[address] = life
        reader = self.parts.reader(address, TRANSACTIONS, GROUP, health, max_records=self._batch)
        breaker = Breaker(self._breaker_share, window=40, at_least=20)
        return self.parts.calculator(reader, self._issuing(life, health), breaker, health).run

    def retrier(self, life: Life, health: WorkerHealth) -> Run:
        quarantine = StormyQuarantine(self.quarantine, life)
        retrier = self.parts.retrier(self._issuing(life, health), quarantine, NOBODY_SIGNS)
        return self.parts.consumer(StormyQueue(self.retry_queue, life), retrier.handle, health).run

    def awarder(self, life: Life, health: WorkerHealth) -> Run:
        quarantine, ledger = StormyQuarantine(self.quarantine, life), StormyLedger(self.ledger, life)
        door = Door(self._cards(life), self.clock, NOBODY_SIGNS)
        awarder = self.parts.awarder(door, ledger, ledger, quarantine)
        queue = StormyQueue(self.award_queue, life)
        return self.parts.consumer(queue, awarder.handle, health, hands=self._hands).run

    def relay(self, life: Life, health: WorkerHealth) -> Run:
        assert self.parts.relay is not None
        return self.parts.relay(self.ledger, StormyPublisher(MemoryPublisher(self.log), life), life, health).run

    def kafka_client(self, *, bootstrap_servers: str, group_id: str, **_settings: Any) -> StormyConsumer:
        """The consumer in place of `AIOKafkaConsumer`; the address names the process that it belongs to."""
        life = self.lives[bootstrap_servers]
        consumer = MemoryConsumer(self.log, group_id, self.storm.chance)
        life.at_the_end(consumer.vanish)
        return StormyConsumer(consumer, life, _IDLE_MS)

    def lift_breaker(self) -> None:
        """A person has looked at the bad messages, and lets them through."""
        self._breaker_share = 1.0

    def _cards(self, life: Life) -> CardReader:
        cards = CardReader(
            StormyCards(published_cards(), life).load,
            Cadence(refresh_every_s=60.0, monotonic=asyncio.get_running_loop().time, rng=self.chance),
        )
        life.at_the_end(asyncio.ensure_future(cards.keep_fresh()).cancel)
        return cards

    def _issuing(self, life: Life, health: WorkerHealth) -> PointsIssuer:
        return self.parts.issuing(
            cards=self._cards(life),
            tiers=StormyTiers(self.tiers, life),
            postings=StormyPostings(self.ledger, life),
            award_queue=StormyQueue(self.award_queue, life),
            retry_queue=StormyQueue(self.retry_queue, life),
            quarantine=StormyQuarantine(self.quarantine, life),
            retry_policy=self._retry_policy,
            slice_map=SliceMap(1),
            clock=self.clock,
            rng=self.chance,
            health=health,
        )

    def _queue(self, name: str, *, visibility_s: float) -> MemoryQueue:
        return MemoryQueue(
            name,
            visibility_s=visibility_s,
            max_receives=10,
            dead_letters=MemoryQueue(f"{name}, dead letters", wait_s=0),
            chance=self.chance,
        )
