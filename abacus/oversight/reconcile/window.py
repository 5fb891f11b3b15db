"""One window accounted for: both topics are read, the ledger and the quarantine queried, and the queues counted.

The conclusions depend on the order. First the messages are read, then the offsets of the calculators, then the queues
are counted, and only then messages without a trace are looked up once more: a message that was read before the offsets
and is on no queue has left its trace by now. The relay's cursor, too, is read before the topic that it is compared
with.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.engage.campaigns.decide.campaign import OWNER_KIND as OF_CAMPAIGNS
from abacus.engage.journeys.decide.journey import OWNER_KIND as OF_JOURNEYS
from abacus.ledger.relay.cursor import RelayCursor
from abacus.oversight.reconcile.account_report import Evidence, tell
from abacus.oversight.reconcile.decide.account import Account, Origin, Window
from abacus.oversight.reconcile.decide.entry import entry_of, key_of
from abacus.oversight.reconcile.decide.lines import ReadPartition
from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.oversight.reconcile.effects import Effects
from abacus.oversight.reconcile.events import EventTable
from abacus.oversight.reconcile.ledger import PostedInWindow
from abacus.oversight.reconcile.messages import AsOf, MessageTable
from abacus.oversight.reconcile.transfers import Transfers
from abacus.platform.kafka.groups import committed
from abacus.platform.kafka.window import OffsetRange, TopicWindow
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.sqs.dead_letters import dead_letters
from abacus.platform.sqs.definition import AWARD, EXPIRY, RETRY
from abacus.platform.sqs.queue import Client, SqsQueue
from abacus.pricing.decide.book import CardBook

CLOCKS_DIFFER_BY: Final = timedelta(minutes=5)  # between the clock that stamps messages and the clock that posts them
SETTLES_IN: Final = timedelta(minutes=2)  # SQS may count a message that it took a minute ago as not there yet
_GRACE: Final = timedelta(hours=1)
_FIRST_STEP_BACK: Final = timedelta(hours=1)
_DROP: Final = "drop table if exists reconcile_message, reconcile_elsewhere, reconcile_event, reconcile_transfer"
_REPLAYED: Final = Statement("""
select id, body from quarantine where replays > 0 and stage = 'transaction' and id > :last order by id limit 200
""")

MessagesRead = Callable[[str, int], None]  # told how many more messages of that kind are read


@dataclass(frozen=True, slots=True)
class Streams:
    """The addresses of the topics, and the group that reads the transactions."""

    bootstrap: str
    transactions: str
    points: str
    group: str


class Reconciliation:
    """Reads and never takes: no offset is committed, no message received, and nothing written but tables of the
    session's own.
    """

    def __init__(
        self,
        pool: Pool,
        streams: Streams,
        queues: Callable[[], Awaitable[Queues]],
        book: CardBook,
        clock: Clock,
        *,
        retried_for: timedelta,
        look_back: timedelta,
        progress: MessagesRead = lambda _, __: None,
    ) -> None:
        self._pool = pool
        self._streams = streams
        self._queues = queues
        self._book = book
        self._clock = clock
        self._overdue_after = retried_for + _GRACE
        self._look_back = look_back
        self._progress = progress

    async def account(self, start: datetime, end: datetime) -> Account:
        """Account for everything between the two moments. Raises `Refused` if they are no window, or there are no
        transactions to read, and `Unavailable`.
        """
        now = self._clock.now()
        if not start < end <= now:
            raise Refused(f"a window begins before it ends, and is over: {start.isoformat()} to {end.isoformat()}")
        async with passing_failures(), self._pool.acquire() as connection:
            messages, posted = MessageTable(connection), PostedInWindow(self._pool, connection, start, end)
            events = EventTable(connection, posted, start, end)
            async with _created(connection, messages, posted, events):
                ranges = await self._read_messages(messages, start, end)
                next_offsets = await committed(self._streams.bootstrap, self._streams.transactions, self._streams.group)
                queues = await self._queues()
                await messages.look_again()
                await messages.settle()
                await posted.look()
                transfers = Transfers(connection, posted, start, end)
                await self._explain_transfers(connection, messages, transfers, start, end)
                posted.relay_is_at(await RelayCursor(self._pool, self._streams.points, self._clock).positions())
                await self._read_events(events, posted, start, end)
                window = Window(start, end, now, self._streams.transactions, self._streams.points)
                account = Account(window, queues)
                account.reads += [
                    ReadPartition(each.partition, each.first, each.after, each.messages, each.forgotten)
                    for each in ranges
                ]
                settled, overdue = now - SETTLES_IN, now - self._overdue_after
                # One moment for all queries of the ledger. It writes nothing, so the relay need not wait for it.
                evidence = Evidence(
                    messages,
                    events,
                    transfers,
                    Effects(connection, OF_CAMPAIGNS, start, end),
                    Effects(connection, OF_JOURNEYS, start, end),
                    connection,
                )
                async with connection.transaction(isolation="repeatable_read", readonly=True):
                    await tell(account, evidence, AsOf(next_offsets, (), settled, overdue))
                account.close(next_offsets)
        return account

    async def _read_messages(self, messages: MessageTable, start: datetime, end: datetime) -> Sequence[OffsetRange]:
        topic = self._streams.transactions
        window = TopicWindow(self._streams.bootstrap, topic, start, end)
        async for batch in window.batches():
            entries = [
                entry_of(
                    each.value,
                    self._book,
                    topic=topic,
                    partition=each.partition,
                    offset=each.offset,
                    stamped_at=each.stamped_at,
                )
                for each in batch
            ]
            await messages.enter(entries)
            self._progress("messages", len(batch))
        return [window.ranges[partition] for partition in sorted(window.ranges)]

    async def _explain_transfers(
        self, connection: Connection, messages: MessageTable, transfers: Transfers, start: datetime, end: datetime
    ) -> None:
        """Search outside the window for the messages of its transfers, as long as there are some without: messages
        that were replayed from the quarantine, messages stamped by a clock ahead of ours, and then ever earlier
        ones.
        """
        async for keys in self._elsewhere(connection, start, end):
            if keys is None:
                await messages.settle()
                if not any(each.origin == Origin.NOWHERE for each in await transfers.posted()):
                    return
            else:
                await messages.enter_elsewhere(keys)

    async def _elsewhere(
        self, connection: Connection, start: datetime, end: datetime
    ) -> AsyncIterator[Sequence[str] | None]:
        """Keys of messages outside the window; nothing when it is time to see whether they were enough."""
        yield None
        last = ""
        while rows := await connection.fetch(*_REPLAYED(last=last)):
            last = rows[-1]["id"]
            yield [key for row in rows if (key := key_of(bytes(row["body"]))) is not None]
        async for keys in self._keys_between(end, end + CLOCKS_DIFFER_BY):
            yield keys
        yield None
        step, reached = _FIRST_STEP_BACK, start
        while reached > start - self._look_back:
            further = max(reached - step, start - self._look_back)
            async for keys in self._keys_between(further, reached):
                yield keys
            yield None
            step, reached = step * 4, further

    async def _keys_between(self, start: datetime, end: datetime) -> AsyncIterator[Sequence[str]]:
        async for batch in TopicWindow(self._streams.bootstrap, self._streams.transactions, start, end).batches():
            yield [key for each in batch if (key := key_of(each.value)) is not None]
            self._progress("messages outside the window", len(batch))

    async def _read_events(self, events: EventTable, posted: PostedInWindow, start: datetime, end: datetime) -> None:
        """Read the events until soon after the window. Only if some transfers have none there, read all events
        since.
        """
        soon = end + CLOCKS_DIFFER_BY
        await self._read_events_between(events, posted, start - CLOCKS_DIFFER_BY, soon)
        if soon < self._clock.now() and (await events.published()).missing:
            await self._read_events_between(events, posted, soon, self._clock.now() + CLOCKS_DIFFER_BY)

    async def _read_events_between(
        self, events: EventTable, posted: PostedInWindow, start: datetime, end: datetime
    ) -> None:
        async for batch in TopicWindow(self._streams.bootstrap, self._streams.points, start, end).batches():
            await events.enter(batch)
            self._progress("events", len(batch))
        await posted.look()  # after the last event: each tells of what is posted by now
        await events.settle()


@asynccontextmanager
async def _created(connection: Connection, *tables: MessageTable | PostedInWindow | EventTable) -> AsyncIterator[None]:
    await connection.execute(_DROP)
    for table in tables:
        await table.create()
    try:
        yield
    finally:
        await connection.execute(_DROP)


async def count_queues(client: Client, prefix: str) -> Queues:
    """In the order that `Queues` prescribes. Raises `Unavailable`."""
    retry = await (await SqsQueue.find(client, prefix + RETRY)).holds()
    award = await (await SqsQueue.find(client, prefix + AWARD)).holds()
    expiry = f"{prefix}{EXPIRY}-dlq"
    dead = sum(each.messages for each in await dead_letters(client, prefix) if each.queue != expiry)
    return Queues(retry, award, dead)
