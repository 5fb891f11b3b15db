"""The load: a process that puts transactions on the stream at a rate, or as fast as points come out.

Run as `python -m benchmarks.load`, with the settings in the environment, until it is done or told to end; then it
prints how many it sent, as JSON.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol, Self

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from abacus.cli.examples import example_cards
from abacus.platform.settings import Settings, read_settings
from abacus.process import look_for_garbage_seldom, stopped_by_signals
from benchmarks.services import COUNTRIES, PARTITIONS

TICK_S: Final = 0.025
LOOK_S: Final = 0.2
AT_MOST: Final = 2_000  # messages a tick
LEAST_LEAD: Final = 500  # before it is known how fast points come out
_SOURCES: Final = {"food": "meals", "rides": "rides", "mart": "mart", "express": "express"}
_AMOUNTS: Final = {"IDR": 85_000, "THB": 180, "VND": 120_000, "PHP": 320, "MYR": 22, "SGD": 14}
_KINDS: Final = 500  # of a country: bodies that differ in all but member, number and time


class Pace(NamedTuple):
    """The rate of sending: so many a second; or as many as are published, so many seconds of work ahead; or as fast
    as it goes. And the number to send in all.
    """

    rate: float | None
    lead_s: float | None
    most: int

    def due(self, seconds: float, published: int, working_s: float) -> int:
        """The number to have sent by now, if so many were published in the time since the first of them."""
        if self.rate is not None:
            return min(self.most, int(seconds * self.rate))
        if self.lead_s is not None:
            return min(self.most, published + max(LEAST_LEAD, int(published / max(1.0, working_s) * self.lead_s)))
        return self.most


class Numbered(Protocol):
    """The messages to send, by their numbers from 0 on."""

    def messages(self, numbers: range) -> Iterator[tuple[int, bytes, bytes]]:
        """The partition, key and value of each message."""
        ...


class Bodies:
    """Transactions of random members, a share of them garbage; numbered, so that each is sent once. Their time is
    the moment at which they are sent, or the one given for all.
    """

    def __init__(self, mark: str, accounts: int, *, at: datetime | None, hot: bool, poison: float) -> None:
        self._rng = random.Random(mark)
        self._mark = mark.encode()
        self._accounts = accounts
        self._at = at
        self._hot = hot
        self._poison = poison
        self._kinds = [[_kind(card, self._rng) for _ in range(_KINDS)] for card in _cards()]

    def messages(self, numbers: range) -> Iterator[tuple[int, bytes, bytes]]:
        """The partition, key and value of each message."""
        chance, countries = self._rng.random, len(COUNTRIES)
        mark, stamp = self._mark, (self._at or datetime.now(UTC)).isoformat(timespec="milliseconds").encode()
        for number in numbers:
            member = 0 if self._hot else int(chance() * self._accounts)
            key = b"m%08d" % member
            partition = member // countries % PARTITIONS
            if self._poison and chance() < self._poison:
                yield partition, key, b'{"type": "transaction.completed", "transaction_id": "T-%s-%d"' % (mark, number)
                continue
            head = self._kinds[member % countries][int(chance() * _KINDS)]
            tail = b'"member_id": "%s", "transaction_id": "T-%s-%d", "occurred_at": "%s"}' % (key, mark, number, stamp)
            yield partition, key, head + tail


def _cards() -> list[Any]:
    return sorted(example_cards(), key=lambda card: card.scope)


def _kind(card: Any, rng: random.Random) -> bytes:
    vertical = rng.choice(tuple(card.verticals))
    typical = _AMOUNTS[card.currency]
    amount = f"{typical * rng.randint(20, 400) // 100}" + ("" if card.currency in {"IDR", "VND"} else ".50")
    facts = {
        "type": "transaction.completed",
        "source": _SOURCES.get(vertical, vertical),
        "country": card.scope,
        "vertical": vertical,
        "payment_type": rng.choice(tuple(card.payment_types)),
        "amount": amount,
        "currency": card.currency,
    }
    return json.dumps(facts).encode()[:-1] + b", "


class Ends:
    """The end of a topic: how many messages it has had, if nothing else was ever written there."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
        self._partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    async def count(self) -> int:
        return sum((await self._consumer.end_offsets(self._partitions)).values())


async def send(settings: Settings, topic: str, bodies: Numbered, pace: Pace, stop: asyncio.Event) -> int:
    """Send a few every 25 ms, the messages of a tick with its moment as their time; return how many."""
    bootstrap = settings.required("kafka_bootstrap")
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", max_batch_size=256 * 1024)
    await producer.start()
    look_for_garbage_seldom()
    try:
        async with Ends(bootstrap, settings.points_topic) as ends:
            base, published, sent = await ends.count(), 0, 0
            began = looked = first = time.monotonic()
            while not stop.is_set() and sent < pace.most:
                now = time.monotonic()
                if pace.lead_s is not None and now - looked > LOOK_S:
                    published, looked = await ends.count() - base, now
                    first = first if published else now
                due = pace.due(now - began, published, now - first)
                numbers = range(sent, max(sent, min(due, sent + AT_MOST)))
                await _produce(producer, topic, bodies, numbers)
                sent += len(numbers)
                await asyncio.sleep(max(0.0, TICK_S - (time.monotonic() - now)))
            return sent
    finally:
        await producer.stop()


async def _produce(producer: AIOKafkaProducer, topic: str, bodies: Numbered, numbers: range) -> None:
    batches: list[Any] = [None] * PARTITIONS
    under_way: list[Any] = []
    for partition, key, value in bodies.messages(numbers):
        batch = batches[partition] = batches[partition] or producer.create_batch()
        if batch.append(key=key, value=value, timestamp=None) is None:
            under_way.append(await producer.send_batch(batch, topic, partition=partition))
            batch = batches[partition] = producer.create_batch()
            batch.append(key=key, value=value, timestamp=None)
    for partition, batch in enumerate(batches):
        if batch is not None:
            under_way.append(await producer.send_batch(batch, topic, partition=partition))
    await asyncio.gather(*under_way)


def arguments(
    mark: str,
    accounts: int,
    *,
    rate: float | None = None,
    lead_s: float | None = None,
    most: int = 10**9,
    at: datetime | None = None,
    hot: bool = False,
    poison: float = 0.0,
) -> list[str]:
    """The command line for a process of these arguments."""
    given = ["--mark", mark, "--accounts", str(accounts), "--most", str(most), "--poison", str(poison)]
    given += ["--rate", str(rate)] if rate is not None else []
    given += ["--lead", str(lead_s)] if lead_s is not None else []
    given += ["--at", at.isoformat()] if at is not None else []
    return given + (["--hot"] if hot else [])


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--mark", required=True, help="part of each id; the same mark at the same time sends the same")
    parser.add_argument("--accounts", type=int, required=True)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--lead", type=float)
    parser.add_argument("--most", type=int, default=10**9)
    parser.add_argument("--at", type=datetime.fromisoformat)
    parser.add_argument("--hot", action="store_true")
    parser.add_argument("--poison", type=float, default=0.0)
    chosen = parser.parse_args(given)
    bodies = Bodies(chosen.mark, chosen.accounts, at=chosen.at, hot=chosen.hot, poison=chosen.poison)
    pace = Pace(chosen.rate, chosen.lead, chosen.most)

    settings = read_settings()
    run(settings, settings.transactions_topic, bodies, pace)


def run(settings: Settings, topic: str, bodies: Numbered, pace: Pace) -> None:
    """Send until all are sent or the process is told to end, then print how many there were."""

    async def until_stopped() -> int:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            return await send(settings, topic, bodies, pace, stop)

    print(json.dumps({"sent": uvloop.run(until_stopped())}))


if __name__ == "__main__":
    main()
