"""Reads a topic in batches. An offset is committed only after its batch is handled."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from abacus.core.errors import AbacusError, Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.fetch_pace import AT_ONCE, FetchPace, apply
from abacus.platform.kafka.forgotten import ForgottenMessages
from abacus.platform.metrics import CONSUMER_LAG, PARTITIONS_PAUSED
from abacus.platform.patience import unless_stopped, until_available

DEPENDENCY: Final = "Kafka"
_SLOW_S: Final = 1.0
_QUIET_S: Final = 1.0  # longer than a poll takes, other than in a rebalance
_DRAIN_S: Final = 20.0
_ASK_AFTER_S: Final = 5.0
_ANSWER_WITHIN_S: Final = 3.0
_COMMIT_WITHIN_S: Final = 5.0
_YOUNG: Final = 1  # the generation of objects that were made lately
NO_STAMP: Final = -1
BATCH: Final = 2000

log = structlog.get_logger(__name__)


class Record(NamedTuple):
    """A message of the topic, with its partition and offset, and the millisecond since 1970 that its sender or broker
    stamped on it.
    """

    value: bytes
    topic: str
    partition: int
    offset: int
    stamp_ms: int = NO_STAMP


# Returns when every record's effect is durable elsewhere. The records that it returns stay behind: nothing is committed
# beyond them. While some do, it is called with nothing when there is nothing, and raises `StartAgain` once they can be
# read again.
Handler = Callable[[Sequence[Record]], Awaitable[Sequence[Record] | None]]


class StartAgain(AbacusError):
    """What a handler knew of the partitions does not hold any more: the reader leaves its group and joins it again, and
    asks for the places where to begin.
    """


class Places(Protocol):
    """Knows where to begin in each partition, for a handler that keeps the offsets with its effects."""

    async def begin(self, partitions: Collection[int]) -> Mapping[int, int]:
        """The first offset to read in each of these partitions, which the reader was just given. A partition that is
        left out begins at the group's committed offset. Raises `Unavailable`; it is called again then.
        """
        ...

    def left(self, partitions: Collection[int]) -> None:
        """These partitions are another reader's from now on."""
        ...


class StreamReader:
    """One member of a consumer group.

    While a batch is worked on, a rebalance waits for it and its commit, so no record is skipped and few are read
    twice. When the work is slow the partitions are paused, and polling goes on so that the group keeps us.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        group: str,
        health: WorkerHealth,
        *,
        max_records: int = BATCH,
        gather_s: float = 0.0,
        places: Places | None = None,
        client: Callable[..., Any] | None = None,
    ) -> None:
        """A batch is handed over when it has `max_records`, or `gather_s` after its first. `client` is for a log
        that is no broker's.
        """
        self._bootstrap = bootstrap
        self._topic = topic
        self._group = group
        self._health = health
        self._max_records = max_records
        self._gather_s = gather_s
        self._places = places
        self._client = client or AIOKafkaConsumer
        self._unplaced: frozenset[TopicPartition] = frozenset()
        self._heard_at = 0.0
        self._polling: asyncio.Future[Any] | None = None
        self._read: list[Record] = []
        self._behind: dict[TopicPartition, int] = {}  # the first offset that stays behind
        self._forgotten = ForgottenMessages(group)
        self._pace = FetchPace()

    async def run(self, handle: Handler, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; then the present batch is finished and committed, or left for the next reader."""
        while not stop.is_set():
            try:
                await self._run(handle, stop)
            except StartAgain as why:
                log.warning("the partitions are begun again", topic=self._topic, group=self._group, why=str(why))

    async def _run(self, handle: Handler, stop: asyncio.Event) -> None:
        async with self._joined(stop) as (consumer, busy):
            while consumer is not None and not stop.is_set():
                if self._unplaced:
                    await self._place_given(consumer, busy, stop)
                batch = await unless_stopped(until_available(lambda: self._next(consumer), self._health), stop)
                if not batch:
                    await unless_stopped(until_available(lambda: self._check_contact(consumer), self._health), stop)
                elif self._forgotten.is_in_doubt:
                    await unless_stopped(until_available(lambda: self._explain(consumer), self._health), stop)
                if batch or self._behind:
                    async with busy:
                        if await self._deal_with(consumer, batch or (), handle, stop) and batch:
                            await self._commit(consumer, batch, stop)

    @contextlib.asynccontextmanager
    async def _joined(self, stop: asyncio.Event) -> AsyncIterator[tuple[AIOKafkaConsumer | None, asyncio.Lock]]:
        """A consumer in the group, or None when `stop` is set before it has joined."""
        busy = asyncio.Lock()
        consumer = await unless_stopped(until_available(lambda: self._start(busy), self._health), stop)
        if consumer is None:
            yield None, busy
            return
        self._health.ready()
        try:
            yield consumer, busy
        finally:
            if self._polling is not None:
                self._polling.cancel()
                await asyncio.wait((self._polling,))
            self._left(consumer.assignment())
            self._polling, self._read, self._unplaced, self._behind = None, [], frozenset(), {}
            await consumer.stop()

    async def _start(self, busy: asyncio.Lock) -> AIOKafkaConsumer:
        consumer = self._client(
            bootstrap_servers=self._bootstrap,
            group_id=self._group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",  # messages of aborted transactions are skipped
            max_partition_fetch_bytes=1024 * 1024,
            fetch_max_bytes=8 * 1024 * 1024,
            session_timeout_ms=6_000,  # the shortest that brokers allow: a dead reader's partitions move sooner
            heartbeat_interval_ms=1_500,
            fetch_min_bytes=AT_ONCE.min_bytes,
            fetch_max_wait_ms=AT_ONCE.max_wait_ms,
            metadata_max_age_ms=30_000,
        )
        listener = WaitForBatch(busy, self._left, lambda given: self._given(consumer, given))
        consumer.subscribe([self._topic], listener=listener)
        try:
            await consumer.start()
        except BaseException as error:
            await consumer.stop()  # also when we are told to stop while it joins
            if isinstance(error, KafkaError | OSError):
                raise Unavailable(DEPENDENCY, str(error)) from error
            raise
        return consumer

    def _given(self, consumer: AIOKafkaConsumer, partitions: Collection[TopicPartition]) -> None:
        """Nothing is read from these partitions before it is known where to begin."""
        if self._places is not None:
            consumer.pause(*partitions)
            self._unplaced = frozenset(partitions)

    def _left(self, partitions: Collection[TopicPartition]) -> None:
        self._forgotten.left(partitions)
        for partition in partitions:
            self._behind.pop(partition, None)
        if self._places is not None:
            gone = {partition.partition for partition in partitions}
            self._read = [record for record in self._read if record.partition not in gone]
            self._unplaced -= frozenset(partitions)
            self._places.left(gone)

    async def _place_given(self, consumer: AIOKafkaConsumer, busy: asyncio.Lock, stop: asyncio.Event) -> None:
        async with busy:  # they may not leave meanwhile
            await unless_stopped(until_available(lambda: self._place(consumer), self._health), stop)

    async def _place(self, consumer: AIOKafkaConsumer) -> None:
        """Begins to read the partitions that were given."""
        if self._places is None:
            return
        places = await self._places.begin([partition.partition for partition in self._unplaced])
        for partition in self._unplaced & consumer.assignment():
            if (first := places.get(partition.partition)) is not None:
                consumer.seek(partition, first)
            consumer.resume(partition)
        self._unplaced = frozenset()

    async def _next(self, consumer: AIOKafkaConsumer) -> list[Record]:
        """The next records, or none at the moment."""
        try:
            while not self._read:
                await asyncio.wait((self._poll(consumer),), timeout=_QUIET_S)
                if not self._take_read(consumer):
                    return []
            if self._gather_s:
                await self._gather(consumer)
        except KafkaError as error:
            raise Unavailable(DEPENDENCY, str(error)) from error
        read, self._read = self._read, []
        return read

    async def _gather(self, consumer: AIOKafkaConsumer) -> None:
        """Waits a moment for more records."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._gather_s
        while len(self._read) < self._max_records and (left := until - loop.time()) > 0:
            await asyncio.wait((self._poll(consumer),), timeout=left)
            self._take_read(consumer)

    def _poll(self, consumer: AIOKafkaConsumer) -> "asyncio.Future[Any]":
        """The one poll in progress. It is never cut off, because its records would be skipped; in a rebalance it waits
        for the new assignment, which may wait for our batch.
        """
        if self._polling is None:
            self._polling = asyncio.ensure_future(consumer.getmany(timeout_ms=200, max_records=self._max_records))
        return self._polling

    def _take_read(self, consumer: AIOKafkaConsumer) -> bool:
        """Keeps the records of a finished poll, and returns whether there are any. Raises the error of the poll."""
        if self._polling is not None and self._polling.done():
            polled, self._polling = self._polling, None
            came = polled.result()
            apply(self._pace.read(sum(map(len, came.values()))), consumer)
            for partition, messages in came.items():
                if partition in self._unplaced:  # read before it was given anew
                    continue
                if messages and partition in consumer.assignment():
                    self._forgotten.read(partition, [message.offset for message in messages])
                self._read += [
                    Record(message.value or b"", message.topic, message.partition, message.offset, message.timestamp)
                    for message in messages
                ]
        return bool(self._read)

    async def _check_contact(self, consumer: AIOKafkaConsumer) -> None:
        """aiokafka reads nothing from a dead broker and reports no error; so after a silence, ask the broker."""
        now = asyncio.get_running_loop().time()
        if now - self._heard_at < _ASK_AFTER_S or (self._polling is not None and self._polling.done()):
            return
        # Without partitions there is nothing cheaper to ask; that is for the length of a rebalance, or of an outage.
        assigned = consumer.assignment()
        await _answered(self._forgotten.look(assigned, consumer) if assigned else consumer.topics())
        self._heard_at = now

    async def _explain(self, consumer: AIOKafkaConsumer) -> None:
        """Says which messages before the records in hand are gone."""
        await _answered(self._forgotten.explain(consumer))

    async def _deal_with(
        self, consumer: AIOKafkaConsumer, batch: Sequence[Record], handle: Handler, stop: asyncio.Event
    ) -> bool:
        """Whether the handler has finished the batch."""
        work = asyncio.ensure_future(handle(batch))
        try:
            await asyncio.wait((work,), timeout=_SLOW_S)
            if not work.done():
                await self._wait_paused(consumer, work, stop)
            if not work.done():
                return False
            for record in work.result() or ():
                partition = TopicPartition(record.topic, record.partition)
                self._behind[partition] = min(record.offset, self._behind.get(partition, record.offset))
            return True
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait((work,))

    async def _wait_paused(self, consumer: AIOKafkaConsumer, work: "asyncio.Future[Any]", stop: asyncio.Event) -> None:
        """Polls the paused partitions until the work is done, or for a while after `stop`."""
        paused = consumer.assignment()
        consumer.pause(*paused)
        PARTITIONS_PAUSED.labels(self._topic).set(len(paused))
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        while not work.done():
            if stop.is_set():
                deadline = deadline or loop.time() + _DRAIN_S
                if loop.time() > deadline:
                    return
            await asyncio.wait((work, self._poll(consumer)), timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
            with contextlib.suppress(KafkaError):
                self._take_read(consumer)
            await asyncio.wait((work,), timeout=0.3)  # a poll that comes back at once must not make this spin
        PARTITIONS_PAUSED.labels(self._topic).set(0)
        with contextlib.suppress(IllegalStateError):  # a partition may have left us meanwhile
            consumer.resume(*(paused & consumer.assignment()))
        # aiokafka drops what it fetched for a paused partition, megabytes in a cycle that a rare collection would keep.
        gc.collect(_YOUNG)

    async def _commit(self, consumer: AIOKafkaConsumer, batch: Sequence[Record], stop: asyncio.Event) -> None:
        """Commits, and repeats until the broker has it. If the broker is gone when `stop` is set, the batch will be
        read again.
        """
        offsets = {TopicPartition(record.topic, record.partition): record.offset + 1 for record in batch}
        offsets = {partition: min(next_, self._behind.get(partition, next_)) for partition, next_ in offsets.items()}

        async def commit() -> None:
            try:
                await asyncio.wait_for(consumer.commit(offsets), _COMMIT_WITHIN_S)
            except (CommitFailedError, IllegalStateError):
                return  # the partitions are another reader's by now; it reads the batch again, and keys absorb that
            except (KafkaError, TimeoutError) as error:
                detail = str(error) or f"offsets were not committed within {_COMMIT_WITHIN_S:.0f} s"
                raise Unavailable(DEPENDENCY, detail) from error

        await unless_stopped(until_available(commit, self._health), stop, grace_s=_COMMIT_WITHIN_S)
        self._report_lag(consumer, offsets)

    def _report_lag(self, consumer: AIOKafkaConsumer, offsets: Mapping[TopicPartition, int]) -> None:
        for partition, next_offset in offsets.items():
            if partition in consumer.assignment():
                behind = (consumer.highwater(partition) or next_offset) - next_offset
                CONSUMER_LAG.labels(partition.topic, str(partition.partition)).set(max(0, behind))


async def _answered(question: Awaitable[object]) -> None:
    """Returns when the broker has answered. Raises `Unavailable`."""
    try:
        await asyncio.wait_for(question, _ANSWER_WITHIN_S)
    except (KafkaError, OSError, TimeoutError) as error:
        raise Unavailable(DEPENDENCY, str(error) or f"no answer within {_ANSWER_WITHIN_S:.0f} s") from error


class WaitForBatch(ConsumerRebalanceListener):
    """Holds a rebalance until the present batch is committed. The new owner of a partition reports its lag.

    `left` and `given` are told which partitions leave and come.
    """

    def __init__(
        self,
        busy: asyncio.Lock,
        left: Callable[[Collection[TopicPartition]], None],
        given: Callable[[Collection[TopicPartition]], None],
    ) -> None:
        self._busy = busy
        self._left = left
        self._given = given

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        async with self._busy:
            gone = list(revoked)
            self._left(gone)
            for partition in gone:
                with contextlib.suppress(KeyError):  # nothing was ever committed in it
                    CONSUMER_LAG.remove(partition.topic, str(partition.partition))

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._given(list(assigned))
