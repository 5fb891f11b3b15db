"""The plain pipeline, for comparison: one message and one database transaction for each transaction.

It uses the house's calculation, chain of hashes and tables. The only difference is that nothing travels in batches.
Each of its three processes works on many transactions at a time, as asyncio makes easy.

Run as `python -m benchmarks.plainly calculator|awarder|publisher`, with the settings in the environment.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from abacus.core.clock import SystemClock
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.ledger.decide.transfer import apply
from abacus.ledger.store.read import ACCOUNT_COLUMNS, TRANSFER_COLUMNS
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award, decode_envelope, encode_award
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.settings import Settings, read_settings
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.queue import Client, sqs_client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.store import MembershipStore

AT_A_TIME: Final = 32  # transactions in the hands of a process
RECEIVERS: Final = 4  # each with up to ten messages, which are posted side by side
PUBLISHED_TOGETHER: Final = 200
IDLE_S: Final = 0.05

OUTBOX: Final = """
create table outbox (id bigint generated always as identity primary key, key bytea not null, event bytea not null)
"""
_ACCOUNT: Final = f"select {ACCOUNT_COLUMNS} from account where member_id = $1 and program = $2 for update"
_OPEN: Final = "insert into account (member_id, program, country) values ($1, $2, $3) on conflict do nothing"
_CLAIM: Final = """
insert into claim (key, member_id, program, seq, fingerprint) values ($1, $2, $3, $4, $5)
on conflict do nothing returning key
"""
_UPDATE: Final = """
update account set balance = $3, earned_total = $4, expires_on = $5, last_seq = $6, head_hash = $7,
    last_xid = pg_current_xact_id()
where member_id = $1 and program = $2
"""
_TRANSFER: Final = f"""
insert into transfer ({TRANSFER_COLUMNS})
values ({", ".join(f"${place}" for place in range(1, len(Transfer._fields) + 1))})
"""
_ANNOUNCE: Final = "insert into outbox (key, event) values ($1, $2)"
_WAITING: Final = f"select id, key, event from outbox order by id limit {PUBLISHED_TOGETHER}"
_PUBLISHED: Final = "delete from outbox where id = any($1)"


async def calculate(settings: Settings) -> None:
    """Reads messages one by one, and sends an award for each."""
    pool = await open_pool(settings.required("database_url"), size=10)
    calculator = Calculator(CardBook(await CardStore(pool).all()))
    tiers = MembershipStore(pool, SystemClock())
    consumer = AIOKafkaConsumer(
        settings.transactions_topic,
        bootstrap_servers=settings.required("kafka_bootstrap"),
        group_id=f"{settings.queue_prefix}calculator",
        auto_offset_reset="earliest",
    )
    await consumer.start()
    async with sqs_client(settings.sqs_endpoint_url) as client, asyncio.TaskGroup() as group:
        queue = await _queue(client, settings)
        room = asyncio.Semaphore(AT_A_TIME)

        async def work(body: bytes) -> None:
            transaction = read_transaction(body)
            published = calculator.card_for(transaction)
            account = (transaction.member_id, published.card.program)
            tier = (await tiers.tiers_of([account])).get(account, BASE_TIER)
            award = calculator.award(transaction, published, tier)
            if award is not None:
                text = f'{{"v":1,"awards":[{encode_award(award).decode()}]}}'
                await client.send_message(QueueUrl=queue, MessageBody=text)
            room.release()

        async for message in consumer:
            await room.acquire()
            group.create_task(work(message.value))


async def post(settings: Settings) -> None:
    """Receives messages, posts each in a transaction of its own, and deletes it."""
    pool = await open_pool(settings.required("database_url"), size=AT_A_TIME, role=None)
    async with sqs_client(settings.sqs_endpoint_url) as client, asyncio.TaskGroup() as group:
        queue = await _queue(client, settings)

        async def work(message: Mapping[str, Any]) -> None:
            for award in decode_envelope(message["Body"]).awards:
                await _post(pool, award)
            await client.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])

        async def receive() -> None:
            while True:
                answer = await client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=20)
                await asyncio.gather(*map(work, answer.get("Messages", [])))

        for _ in range(RECEIVERS):
            group.create_task(receive())


async def _post(pool: Pool, award: Award) -> None:
    async with pool.acquire() as connection, connection.transaction():
        account = await _locked(connection, award)
        after, transfer = apply(account, award, SystemClock().now())
        claim = (award.key, award.member_id, award.program, transfer.seq, award.fingerprint)
        if await connection.fetchval(_CLAIM, *claim) is None:
            return  # it was posted before
        await connection.execute(
            _UPDATE, *after.id, after.balance, after.earned_total, after.expires_on, after.last_seq, after.head_hash
        )
        await connection.execute(_TRANSFER, *transfer)
        await connection.execute(_ANNOUNCE, transfer.member_id.encode(), encode_event(transfer))


async def _locked(connection: Connection, award: Award) -> Account:
    row = await connection.fetchrow(_ACCOUNT, award.member_id, award.program)
    if row is None:
        await connection.execute(_OPEN, award.member_id, award.program, award.country)
        row = await connection.fetchrow(_ACCOUNT, award.member_id, award.program)
    return Account(*row)


async def publish(settings: Settings) -> None:
    """Publishes what is posted, a few at a time."""
    pool = await open_pool(settings.required("database_url"), size=1, role=None)
    producer = AIOKafkaProducer(bootstrap_servers=settings.required("kafka_bootstrap"), acks="all")
    await producer.start()
    while True:
        rows = await pool.fetch(_WAITING)
        sent = [await producer.send(settings.points_topic, row["event"], key=row["key"]) for row in rows]
        await asyncio.gather(*sent)
        await pool.execute(_PUBLISHED, [row["id"] for row in rows])
        if not rows:
            await asyncio.sleep(IDLE_S)


async def _queue(client: Client, settings: Settings) -> str:
    return str((await client.get_queue_url(QueueName=settings.queue_prefix + AWARD))["QueueUrl"])


WORKERS: Final[Mapping[str, Callable[[Settings], Awaitable[None]]]] = {
    "calculator": calculate,
    "awarder": post,
    "publisher": publish,
}


async def main(name: str) -> None:
    await WORKERS[name](read_settings())


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
