"""The ports of one process' life: the real adapters in memory, seen through the storm."""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError

from abacus.core.errors import Unavailable
from abacus.ledger.types.account import AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import AwardOutcome, Claim, Unpostable
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.platform.sqs.port import Received, Unsent
from abacus.pricing.decide.card import PublishedCard
from tests.reliability.simulation.ledgers import SimulatedLedger
from tests.reliability.simulation.life import Life
from tests.reliability.simulation.workload import CURSED
from tests.support.memory_consumer import MemoryConsumer
from tests.support.memory_log import MemoryPublisher, Stored
from tests.support.memory_queue import MemoryQueue
from tests.support.memory_tiers import MemoryTiers


class StormyQueue:
    """`Queue`: takes messages twice, in part or late, tells the sender that it has not, and forgets deletions."""

    def __init__(self, queue: MemoryQueue, life: Life) -> None:
        self._queue = queue
        self._life = life
        self._storm = life.storm

    @property
    def name(self) -> str:
        return self._queue.name

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        taken, left = list(bodies), list[str]()
        async with self._life.call(self.name, f"{self.name}.send", lambda why: Unsent(self.name, why, bodies)):
            if self._storm.strikes("partial", self._life.name):
                self._storm.chance.shuffle(taken)
                cut = self._storm.chance.randint(0, len(taken))
                taken, left = taken[:cut], taken[cut:]
            for body in taken:
                held_up = self._storm.chance.uniform(30, 240) if self._storm.strikes("held_up") else 0
                copies = 2 if self._storm.strikes("doubled") else 1
                await self._queue.send([body] * copies, delay_s=delay_s + held_up)
        if left:
            raise Unsent(self.name, "throttled", left)

    async def receive(self) -> list[Received]:
        async with self._life.call(self.name, f"{self.name}.receive"):
            messages = await self._queue.receive()
            handed_out_again = [message for message in messages if self._storm.strikes("too_early")]
            await self._queue.keep(handed_out_again, 0)
        return messages

    async def delete(self, messages: Sequence[Received]) -> None:
        async with self._life.call(self.name, f"{self.name}.delete"):
            await self._queue.delete([message for message in messages if not self._storm.strikes("undeleted")])

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        async with self._life.call(self.name, f"{self.name}.keep"):
            await self._queue.keep(messages, seconds)


class StormyPostings:
    """`Postings`."""

    def __init__(self, ledger: SimulatedLedger, life: Life) -> None:
        self._ledger = ledger
        self._life = life

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        async with self._life.call("ledger", "ledger.read"):
            return await self._ledger.claims_in_reach(keys)


class StormyLedger:
    """`LedgerPort` and `MovesPort`: an answer may get lost after the batch was posted, and a batch with an award of the
    cursed member is refused.
    """

    def __init__(self, ledger: SimulatedLedger, life: Life) -> None:
        self._ledger = ledger
        self._life = life

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        async with self._life.call("ledger", "ledger.post"):
            if any(award.member_id == CURSED for award in awards):
                raise Unpostable("a value that the store refuses")
            outcomes = await self._ledger.post(awards)
            self._life.note(", ".join(f"{outcome.award.key} {outcome.status}" for outcome in outcomes))
        return outcomes

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        async with self._life.call("ledger", "ledger.move"):
            moved = await self._ledger.move(movements)
            self._life.note(", ".join(f"{each.movement.key} {each.status}" for each in moved))
        return moved


class StormyQuarantine:
    """`QuarantinePort`."""

    def __init__(self, quarantine: QuarantinePort, life: Life) -> None:
        self._quarantine = quarantine
        self._life = life

    async def add(self, items: Sequence[Item]) -> None:
        if not items:
            return
        async with self._life.call("quarantine", "quarantine.add"):
            await self._quarantine.add(items)


class StormyTiers:
    """`Tiers`."""

    def __init__(self, tiers: MemoryTiers, life: Life) -> None:
        self._tiers = tiers
        self._life = life

    async def tiers_in_reach(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        async with self._life.call("tiers", "tiers.read"):
            return await self._tiers.tiers_in_reach(accounts)

    async def probe(self) -> None:
        async with self._life.call("tiers", "tiers.read"):
            await self._tiers.probe()


class StormyCards:
    """The store that a process' card reader loads from."""

    def __init__(self, cards: Sequence[PublishedCard], life: Life) -> None:
        self._cards = cards
        self._life = life

    async def load(self, _known: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        async with self._life.call("cards", "cards.read"):
            return list(self._cards)


class StormyConsumer:
    """The Kafka client's consumer."""

    def __init__(self, consumer: MemoryConsumer, life: Life, idle_ms: float) -> None:
        self._consumer = consumer
        self._life = life
        self._idle_ms = idle_ms
        self.subscribe = consumer.subscribe
        self.assignment = consumer.assignment
        self.pause = consumer.pause
        self.resume = consumer.resume
        self.seek = consumer.seek
        self.highwater = consumer.highwater
        self.committed = consumer.committed

    async def start(self) -> None:
        async with self._life.call("kafka", "kafka.join", KafkaConnectionError):
            await self._consumer.start()

    async def stop(self) -> None:
        await self._life.step("before kafka.leave", at_once=True)
        await self._consumer.stop()

    async def getmany(
        self, *, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[TopicPartition, list[Stored]]:
        # A poll without news takes longer than it was asked to, only so that a long calm costs few steps. From a broker
        # that is gone the real consumer reads nothing, and says nothing.
        timeout_ms = max(timeout_ms, self._idle_ms) if timeout_ms else 0
        if self._life.storm.is_down("kafka"):
            await asyncio.sleep(timeout_ms / 1000)
            return {}
        async with self._life.call("kafka", "kafka.read", KafkaConnectionError, local=True):
            batch = await self._consumer.getmany(timeout_ms=timeout_ms, max_records=max_records)
            for partition, stored in batch.items():
                self._life.note(f"reads {partition.partition}/{stored[0].offset} to {stored[-1].offset}")
        return batch

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        async with self._life.call("kafka", "kafka.ask", KafkaConnectionError):
            return await self._consumer.beginning_offsets(partitions)

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        async with self._life.call("kafka", "kafka.commit", KafkaConnectionError):
            await self._consumer.commit(offsets)
            self._life.note("commits " + ", ".join(f"{each.partition}/{offset}" for each, offset in offsets.items()))


class StormyPublisher:
    """The relay's `Publisher`: a call that fails may have published some of its messages."""

    def __init__(self, publisher: MemoryPublisher, life: Life) -> None:
        self._publisher = publisher
        self._life = life

    async def connect(self) -> None:
        async with self._life.call("kafka", "kafka.connect"):
            pass

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        storm = self._life.storm
        published = list(messages)
        async with self._life.call("kafka", "kafka.publish"):
            if storm.strikes("partial", self._life.name):
                published = published[: storm.chance.randint(0, len(published))]
            await self._publisher.publish(topic, published)
        if len(published) < len(messages):
            raise Unavailable("Kafka", "the broker went away")
