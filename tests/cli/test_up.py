"""`abacus up` and `abacus demo` as a user starts them."""

import asyncio
import json
import os
import re
import shlex
import signal
import tempfile
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from html import unescape
from pathlib import Path
from typing import IO, Any

import asyncpg
import httpx
import pytest

from abacus.cli.examples.stream import BOB, EVE_AGAIN, NAMED, sent, stream
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from tests.support.commands import PROGRAM
from tests.support.commands import abacus_process as abacus
from tests.support.house import until
from workers import WORKERS

pytestmark = pytest.mark.once

DEMO_KEYS = {
    "transactions",
    "awarded",
    "points",
    "duplicates",
    "retried",
    "quarantined",
    "elapsed_s",
    "transactions_per_s",
    "points_per_s",
    "p50_ms",
    "p99_ms",
    "expired_members",
    "expired_points",
    "tier_changes",
    "notifications",
    "counters",
    "campaigns",
    "journeys",
    "series",
    "documents",
    "places",
    "offers",
    "rewards",
    "pending_points",
    "ledger_verified",
    "reconciled",
}

# Two of these tests may run at once.
FREE_PORTS = dict.fromkeys((f"ABACUS_{each}_PORT" for each in ("API", "COUNTS", "OFFERS", "PLACES", "CONSOLE")), "0")

ADDRESSES = {"api", "counts", "offers", "places", "console", "health", "kafka", "sqs", "database"}

# Of twenty members each, whose events are all sent twice.
CAMPAIGNS = {
    "demo_third_order": {"events": 60, "done": 40, "points": 10_000},
    "demo_cancelled": {"events": 20, "done": 20, "points": 2_000},
    "demo_late_delivery": {"events": 20, "done": 20, "points": 1_000},
    "demo_way_home": {"events": 20, "done": 20, "points": 600},
    "demo_rides_in_pairs": {"events": 40, "done": 20, "points": 400},
}

# Of who is welcomed some order again; of who is brought back some buy; who is greeted has points.
JOURNEYS = {
    "demo_come_back": {"entered": 10, "left": 10, "messages": 10, "awards": 6},
    "demo_greetings": {"entered": 20, "left": 20, "messages": 20, "awards": 0},
    "demo_welcome": {"entered": 20, "left": 20, "messages": 32, "awards": 8},
}


@asynccontextmanager
async def up(data_dir: str) -> AsyncIterator[dict[str, str]]:
    """A running `abacus up`, by the addresses it prints."""
    async with left_running("up", "--json", "--data-dir", data_dir) as addresses:
        yield addresses


def _end_of(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")[-2000:]


@asynccontextmanager
async def left_running(*words: str, lines: int = 1) -> AsyncIterator[dict[str, Any]]:
    """A command that runs until it is told to stop, by the last of its first lines. It has to end well within thirty
    seconds.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
    log = tempfile.TemporaryFile()  # noqa: SIM115  # the process writes to it until it ends
    process = await asyncio.create_subprocess_exec(
        *(*PROGRAM, *words),
        env={**clean, **FREE_PORTS},
        cwd=tempfile.gettempdir(),
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
    )
    assert process.stdout is not None
    try:
        line = b""
        for _ in range(lines):
            line = await asyncio.wait_for(process.stdout.readline(), 300)
            assert line, _end_of(log)
        yield json.loads(line)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0
        assert await process.stdout.read() == b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        log.close()


async def sourced(file: Path, *words: str) -> Any:
    """What a command prints in another terminal, after the `source` line."""
    ran = await asyncio.create_subprocess_shell(
        f". {file} && {shlex.join((*PROGRAM, *words))}", cwd=tempfile.gettempdir(), stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await ran.communicate()
    return json.loads(printed)


async def get(url: str) -> str:
    def fetch() -> str:
        with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310  # our own address
            return str(response.read().decode())

    return await asyncio.to_thread(fetch)


async def send(addresses: dict[str, str], transaction: dict[str, Any]) -> None:
    publisher = StreamPublisher(addresses["kafka"])
    try:
        await publisher.publish("abacus.transactions.v1", [StreamMessage(b"bob", json.dumps(transaction).encode())])
    finally:
        await publisher.close()


@pytest.mark.long
@pytest.mark.timeout(400)  # two stacks start
async def test_up_serves_and_its_ledger_survives_a_restart() -> None:
    with tempfile.TemporaryDirectory(prefix="abacus-up-") as data_dir:
        async with up(data_dir) as addresses:
            assert set(addresses) == ADDRESSES
            assert "Sign in as admin" in await get(addresses["console"])
            await send(addresses, BOB)
            await until(lambda: _transfers(addresses["database"], 1))
            assert await get(f"{addresses['api']}/healthz") == '{"status":"alive"}'
            ready = json.loads(await get(f"{addresses['api']}/readyz"))
            assert ready["ready"]
            assert await get(f"{addresses['counts']}/healthz") == '{"status":"alive"}'
            assert await get(f"{addresses['offers']}/healthz") == '{"status":"alive"}'
            assert await get(f"{addresses['places']}/healthz") == '{"status":"alive"}'
            assert set(ready["workers"]) == set(WORKERS)
            metrics = await get(f"{addresses['health']}/metrics")
            assert 'abacus_awards_total{outcome="posted",source="txn"} 1.0' in metrics
        async with up(data_dir) as addresses:
            await send(addresses, BOB)
            await send(addresses, {**BOB, "transaction_id": "T-BOB-2"})
            await until(lambda: _transfers(addresses["database"], 2))
            verified = await abacus("ledger", "verify", "--json", env={"ABACUS_DATABASE_URL": addresses["database"]})
            assert verified.json["transfers"] == 2
            file = Path(data_dir) / "env"
            assert file.stat().st_mode & 0o777 == 0o600
            status = await sourced(file, "status", "--json")
            assert {each["worker"] for each in status["workers"]} == set(WORKERS)
            # The ports are not the usual ones, and a token belongs to this console alone.
            link = (await sourced(file, "console", "link", "admin", "--json"))["link"]
            assert link.startswith(addresses["console"].partition("/sign-in")[0] + "/sign-in/link?")
            assert "Sign in as admin" in await get(link)
            where = "http://$ABACUS_API_HOST:$ABACUS_API_PORT http://$ABACUS_COUNTS_HOST:$ABACUS_COUNTS_PORT"
            told = await asyncio.create_subprocess_shell(f". {file} && echo {where}", stdout=asyncio.subprocess.PIPE)
            assert (await told.communicate())[0].decode().split() == [addresses["api"], addresses["counts"]]
        assert not file.exists()


@pytest.mark.long
async def test_up_can_be_stopped_while_it_still_starts() -> None:
    """The address of an own Kafka leads nowhere: `up` says what it starts, that it joins that Kafka, and what it waits
    for; and it lets itself be stopped.
    """
    with tempfile.TemporaryDirectory(prefix="abacus-up-") as data_dir:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
        process = await asyncio.create_subprocess_exec(
            *(*PROGRAM, "up", "--data-dir", data_dir),
            env={**clean, **FREE_PORTS, "ABACUS_KAFKA_BOOTSTRAP": "127.0.0.1:1"},
            cwd=tempfile.gettempdir(),
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            told: list[str] = []
            async with asyncio.timeout(60):
                while "waiting for" not in (line := (await process.stderr.readline()).decode()):
                    assert line, f"it ended with {await process.wait()}: {told}"
                    told.append(line.partition(" s  ")[2].strip() or line)
            assert told[0] == "using Kafka at 127.0.0.1:1, as ABACUS_KAFKA_BOOTSTRAP says"
            order = [
                told.index(each)
                for each in (
                    "starting Postgres",
                    "Postgres is ready",
                    "preparing the schema, the queues and the rate cards",
                )
            ]
            assert order == sorted(order)
            assert "SQS is ready" in told
            assert "starting Kafka" not in told
            assert "relay (" in line
            process.send_signal(signal.SIGTERM)
            _, code = await asyncio.wait_for(asyncio.gather(process.stderr.read(), process.wait()), 25)
            assert code == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def plain_counts(messages: int) -> dict[str, int]:
    """What the demo's counters come to, by going through its stream event by event."""
    events = dict[tuple[str, str], Any]()
    for each in (*stream(messages), sent(EVE_AGAIN)):
        with suppress(ValueError):
            body = json.loads(each.value)
            if "member_id" in body:
                events.setdefault((body["source"], body["transaction_id"]), body)
    return {
        "demo:rides:SG": sum(each["vertical"] == "rides" and each["country"] == "SG" for each in events.values()),
        "demo:meals:eve": sum(each["vertical"] == "food" and each["member_id"] == "eve" for each in events.values()),
        "demo:payments:wallet": sum(each["payment_type"] == "wallet" for each in events.values()),
    }


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_the_demo_counts_every_message_and_again_awards_nothing_new_and_shows_how() -> None:
    with tempfile.TemporaryDirectory(prefix="abacus-demo-") as data_dir:
        first = (await abacus("demo", "--transactions", "500", "--data-dir", data_dir, "--json")).json
        assert set(first) == DEMO_KEYS
        assert (first["ledger_verified"], first["reconciled"]) == (True, True)
        assert first["transactions"] == 505 == first["awarded"] + first["duplicates"] + first["quarantined"]
        assert (first["expired_members"] > 0, first["tier_changes"] > 0, first["notifications"] > 0) == (True,) * 3
        assert first["expired_points"] >= first["expired_members"]
        assert first["counters"] == plain_counts(first["transactions"] - NAMED - 4)
        assert first["campaigns"] == CAMPAIGNS
        assert first["journeys"] == JOURNEYS
        assert first["series"] == {
            "demo:points:campaign:demo_third_order": 10_000,
            "@campaign:demo_third_order:points": 10_000,
            **{f"@journey:{name}:entered": journey["entered"] for name, journey in JOURNEYS.items()},
        }
        assert first["places"] == {"regions": 3, "shops": 3}
        assert first["offers"] == {"reserved": 4, "redeemed": 4, "rolled_back": 1, "by_code": 2, "points": 50}
        assert first["rewards"] == {"redeemed": 2, "returned": 1, "late": 1, "points": 140}
        assert first["pending_points"] == 30
        assert first["documents"] == {"exported": 7 + 2 + 4 + 1 + 5 + 3 + 1 + 8 + 3, "changed_by_apply": 0}
        again = await abacus("demo", "--transactions", "500", "--data-dir", data_dir)
        assert again.code == 0
        # But for the purchases of now, and the refund of one, which each run makes.
        repeated = first["awarded"] - 3 + first["duplicates"]
        shown = dict(re.findall(r"│ (\w+) +│ (.+?) +│", again.out))
        assert re.fullmatch(rf"\d+: 3 awarded, {repeated} again, 0 set aside", shown["transactions"])
        assert shown["points"].startswith("75;")
        assert shown["lapsed"] == "0 points of 0 members"
        assert shown["tiers"].startswith("0 changes;")
        assert shown["places"] == "3 regions, 3 shops"
        assert shown["offers"] == "4 redeemed, 2 by code, 1 rolled back; 50 points"
        assert shown["rewards"].startswith("2 for 140 points, 1 returned")
        assert (shown["ledger"], shown["messages"]) == ("verified", "reconciled")
        assert "txn:meals:T-BOB: 180 points (GRP) for bob" in again.out
        assert "txn:meals:T-JANE: 60 points (OVO) for jane" in again.out
        assert "txn:meals:T-EVE-1: 320 points (GRP) for eve" in again.out
        assert "10.00 SGD x 2 (vertical food) x 1 (eppf SG) x 2 (cashless wallet) x 1.5 (tier silver)" in again.out
        assert again.out.count("recomputed now: same") == 7
        assert "taken back before" in again.out
        assert "near 1.3, 103.85, in demo-river and demo-island" in again.out
        assert "the best of 4 offers: demo_by_the_river saves 6.00" in again.out
        assert "bob's phone says that it is there: bob is in demo-island and demo-river" in again.out
        assert "laksa for SGD 12.00: demo_lunch saves 2.40 and demo_drink saves 1.50; the member pays 8.10" in again.out
        assert "eve types the same one, and is refused: code-used" in again.out
        assert "not demo_big_table: a price of SGD 30.00 or more" in again.out
        assert "mia sends 2,000 miles under" in again.out
        assert "mia gives 1,000 points for 400 miles at once: held, sent, credited, captured" in again.out
        assert re.search(r"400 miles by demo-skyline_\d{8}_0002.csv: held, sent, credited, captured", again.out)
        assert "2 meals:eve" in again.out
        assert max(map(len, again.out.partition("every point accounted for")[0].splitlines())) <= 80
        assert again.out.count("every point accounted for") == 1
        assert "starting Postgres" in "".join(again.err.splitlines()[:3])
        assert "sending 500 transactions through them" in again.err


async def _transfers(database_url: str, count: int) -> bool:
    connection = await asyncpg.connect(database_url)
    try:
        return int(await connection.fetchval("select count(*) from transfer")) >= count
    finally:
        await connection.close()


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.timeout(400)  # six months are told
async def test_the_demo_leaves_people_in_a_house_with_a_history() -> None:
    """Each gets in by a link, and by a password, however often."""
    async with left_running("demo", "--console", "--json", lines=2) as opened:
        links, people = opened["console"], opened["people"]
        assert list(links) == [each["person_id"] for each in people] == ["admin", "cleo", "dora", "sid", "finn", "olga"]
        for person_id, link in links.items():
            assert f"Sign in as {person_id}" in await get(link)
        looks = {look["person_id"]: look for look in opened["looks"]}
        assert looks.keys() == links.keys()
        async with httpx.AsyncClient(follow_redirects=True, timeout=30) as browser:
            for person in people:
                for _ in range(2):
                    page = await signed_in(browser, looks[person["person_id"]]["url"], person)
                    assert page.status_code == 200, page.url


async def signed_in(browser: httpx.AsyncClient, url: str, person: dict[str, str]) -> httpx.Response:
    browser.cookies.clear()
    asked = await browser.get(url, headers={"Accept": "text/html"})
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', asked.text))
    form = {name: unescape(value) for name, value in fields.items()}
    given = form | {"person": person["person_id"], "password": person["password"]}
    await browser.post(str(asked.url.copy_with(path="/sign-in", query=None)), data=given)
    return await browser.get(url, headers={"Accept": "application/json"})
