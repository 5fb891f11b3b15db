"""Sends each line of the standard input to the topic of transactions, under the key of its member."""

import asyncio
import json
import os
import sys

from aiokafka import AIOKafkaProducer


async def main() -> None:
    topic = os.environ.get("ABACUS_TRANSACTIONS_TOPIC", "abacus.transactions.v1")
    async with AIOKafkaProducer(bootstrap_servers=os.environ["ABACUS_KAFKA_BOOTSTRAP"]) as producer:
        for line in sys.stdin:
            member_id = json.loads(line)["member_id"]
            await producer.send_and_wait(topic, line.encode(), key=member_id.encode())


asyncio.run(main())
