"""`abacus where` meets an award in each place where it may be; `quarantine list` by source, country and time."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, SetAside
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.support.commands import Ran, abacus
from tests.support.fixed_clock import FixedClock
from tests.support.forgetting import granted
from tests.support.house import House, completed

NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def where(house: House, *words: str, **changed: str) -> Ran:
    return await abacus("where", *words, env=house.environment() | changed)


async def places(house: House, *words: str) -> list[tuple[str, str | None]]:
    ran = await where(house, *words, "--json")
    return [(each["place"], each["key"]) for each in ran.json["places"]]


def item(number: int, **changes: str) -> Item:
    return Item.of(
        Stage.TRANSACTION,
        f"kafka:t/0/{number}",
        orjson.dumps(completed(number, **changes)),
        SetAside(Reason.UNKNOWN_VERTICAL, "yachts"),
    )


@pytest.fixture
async def spread(house: House) -> House:
    """An award in each place: T-0 in the stream alone, T-1 posted too, T-2 set aside, T-3 a dead letter."""
    await house.produce([completed(0), completed(1), b"not json"])
    await PostgresLedger(house.pool, SystemClock()).post([granted("txn:rides:T-1")])
    await QuarantineStore(house.pool, SystemClock()).add([item(2)])
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        letters = await SqsQueue.find(client, f"{house.settings.queue_prefix}{AWARD}-dlq")
        await letters.send(
            [orjson.dumps({"v": 1, "awards": [{"key": f"txn:rides:T-{n}"}]}).decode() for n in range(3, 16)]
        )
        waiting = await SqsQueue.find(client, house.settings.queue_prefix + AWARD)
        await waiting.send(["{}"])
    return house


FOUND = {
    ("txn:rides:T-0",): [("stream", "txn:rides:T-0")],
    ("T-0",): [("stream", "txn:rides:T-0")],
    ("txn:rides:T-1",): [("ledger", "txn:rides:T-1"), ("stream", "txn:rides:T-1")],
    ("T-1",): [("ledger", "txn:rides:T-1"), ("stream", "txn:rides:T-1")],
    ("T-1", "--source", "rides"): [("ledger", "txn:rides:T-1"), ("stream", "txn:rides:T-1")],
    ("T-1", "--source", "meals"): [],
    ("txn:rides:T-2",): [("quarantine", "txn:rides:T-2")],
    ("T-2",): [("quarantine", "txn:rides:T-2")],
    ("T-15",): [("dead letters", "txn:rides:T-15")],
    ("txn:rides:T-99",): [],
}


@pytest.mark.long
async def test_it_is_found_where_it_is(spread: House) -> None:
    assert {words: await places(spread, *words) for words in FOUND} == FOUND


@pytest.mark.long
async def test_a_person_reads_where_it_is_and_why(spread: House) -> None:
    unread = await where(spread, "T-0")
    assert unread.code == 0
    assert "offset 0: not read yet" in unread.out
    assert "1 messages are on the award queue, which cannot be looked into" in unread.out
    posted = await where(spread, "T-1")
    assert "ledger: txn:rides:T-1, " in posted.out
    assert "posted: +10 GRP for bob, as #1" in posted.out
    assert "award queue" not in posted.out
    held = await where(spread, "T-2")
    assert "held as " in held.out
    assert ": unknown-vertical: yachts" in held.out
    nowhere = await where(spread, "T-99")
    assert nowhere.code == 1
    assert nowhere.out.startswith("T-99 is nowhere: ")
    uncertain = await where(spread, "T-99", ABACUS_KAFKA_BOOTSTRAP="127.0.0.1:1")
    assert uncertain.code == 2
    assert "not looked into: stream: " in uncertain.out


@pytest.mark.long
async def test_looking_leaves_dead_letters_where_they_are(spread: House) -> None:
    assert await places(spread, "T-3") == await places(spread, "T-3") == [("dead letters", "txn:rides:T-3")]
    listed = (await abacus("dlq", "list", "--json", env=spread.environment())).json
    assert {each["queue"]: each["messages"] for each in listed}[f"{spread.settings.queue_prefix}award-dlq"] == 13


LISTED = {
    (): (4, "4 held: 4 unknown-vertical"),
    ("--source", "rides"): (2, "2 held: 2 unknown-vertical"),
    ("--country", "ID"): (1, "1 held: 1 unknown-vertical"),
    ("--source", "meals", "--country", "SG"): (1, "1 held: 1 unknown-vertical"),
    ("--source", "acme"): (0, "0 held"),
    ("--since", "2026-06-01T01:00:00Z"): (3, "3 held: 3 unknown-vertical"),
    ("--since", "2026-06-01T01:00:00Z", "--until", "2026-06-01T02:00:00Z"): (1, "1 held: 1 unknown-vertical"),
    ("--source", "rides", "--until", "2026-06-01T01:00:00Z"): (1, "1 held: 1 unknown-vertical"),
    ("--limit", "1"): (1, "4 held: 4 unknown-vertical; the newest 1:"),
    ("--source", "rides", "--limit", "1"): (1, "2 held: 2 unknown-vertical; the newest 1:"),
    ("--reason", "invalid"): (0, "0 held"),
}


async def test_items_are_listed_by_source_country_and_time(house: House) -> None:
    clock = FixedClock(NOW)
    store = QuarantineStore(house.pool, clock)
    for hour, changes in enumerate(({}, {"source": "meals"}, {"country": "ID"}, {"source": "meals", "country": "VN"})):
        clock.set(NOW + timedelta(hours=hour))
        await store.add([item(hour, **changes)])

    async def listed(options: tuple[str, ...]) -> tuple[int, str]:
        env = house.environment()
        document = (await abacus("quarantine", "list", *options, "--json", env=env)).json
        return len(document), (await abacus("quarantine", "list", *options, env=env)).out.splitlines()[0]

    assert {options: await listed(options) for options in LISTED} == LISTED
