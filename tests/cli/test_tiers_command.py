"""`abacus tiers`, as people, scripts and cron meet it."""

import asyncio
import json
import sys

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from tests.programs.tiers.cards import card
from tests.support.commands import DOWN, abacus
from tests.support.house import House, until
from tests.support.keeping import MARCH, FixedCards, earned, keeper, told
from tests.support.logged import card_logged
from tests.support.slices import home_of, neighbour
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once

SET = ("--program", "GRP", "--reason", "a wedding")
LONG_AGO = MARCH.replace(year=2021)


@pytest.fixture
async def env(pool: Pool, database_url: str) -> dict[str, str]:
    for scope in ("SG", "TH"):
        await CardStore(pool).publish(card(scope), by="tests", now=SystemClock().now(), also=card_logged(card(scope)))
    return {"ABACUS_DATABASE_URL": database_url}


async def cards(pool: Pool) -> FixedCards:
    return FixedCards(CardBook(await CardStore(pool).all()))


async def test_both_tiers_are_shown_and_which_counts(pool: Pool, env: dict[str, str]) -> None:
    await keeper(pool, await cards(pool)).handle([earned("bob", 1, 310), earned("bob", 2, 5, LONG_AGO)])
    assert (await abacus("tiers", "set", "bob", "gold", *SET, env=env)).out == "bob is gold in GRP\n"
    (shown,) = (await abacus("tiers", "show", "bob", "--json", env=env)).json
    set_at = shown["override"].pop("set_at")
    assert set_at[:4].isdecimal()
    assert shown == {
        "member_id": "bob",
        "program": "GRP",
        "country": "SG",
        "tier": "gold",
        "computed": {
            "tier": "silver",
            "until": "2026-12-31",
            "periods": [
                {"starts_on": "2026-01-01", "ends_on": "2026-06-30", "earned": 310, "tier": "silver"},
                {"starts_on": "2021-01-01", "ends_on": "2021-06-30", "earned": 5, "tier": "member"},
            ],
        },
        "override": {
            "member_id": "bob",
            "program": "GRP",
            "tier": "gold",
            "reason": "a wedding",
            "actor": LOGIN,
        },
    }
    table = (await abacus("tiers", "show", "bob", env=env)).out  # as narrow as without a terminal
    for text in ("GRP", "gold", "silver", "310", "login:"):
        assert text in table

    cleared = await abacus("tiers", "clear", "bob", *SET, "--json", env=env)
    assert cleared.json == {"member_id": "bob", "program": "GRP", "tier": "silver"}
    (shown,) = (await abacus("tiers", "show", "bob", "--json", env=env)).json
    assert (shown["tier"], shown["override"]) == ("silver", None)
    history = (await abacus("tiers", "history", "bob", "--json", env=env)).json
    assert [(each["n"], each["from_tier"], each["to_tier"], each["reason"], each["actor"]) for each in history] == [
        (3, "gold", "silver", "override cleared", LOGIN),
        (2, "silver", "gold", "override", LOGIN),
        (1, "member", "silver", "upgrade", None),
    ]
    table = (await abacus("tiers", "history", "bob", env=env)).out
    for text in ("GRP", "silver", "310", "login:"):
        assert text in table
    nobody = await abacus("tiers", "show", "nobody", "--json", env=env)
    assert (nobody.code, nobody.err) == (1, "abacus: there is no account of 'nobody'\n")


async def test_what_is_over_is_rolled(pool: Pool, env: dict[str, str]) -> None:
    await keeper(pool, await cards(pool)).handle([earned(f"m{n}", 1, 300, LONG_AGO) for n in range(5)])
    runs = (await abacus("tiers", "roll", "--due", "--country", "SG", "--json", env=env)).json
    (run,) = runs
    assert (run["country"], run["found"], run["stepped_down"], run["kept"]) == ("SG", 5, 5, 0)
    assert run["finished_at"] is not None
    ran = await abacus("tiers", "roll", "--due", env=env)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "SG: nothing is due",
        f"TH through {run['through']}: 0 tiers ended, 0 stepped down, 0 kept",
    ]
    assert (await abacus("tiers", "roll", "--due", "--json", env=env)).json == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["roll"],
            "abacus: say --due: a period can be rolled when it is over, and all that are over are rolled",
        ),
        (["roll", "--due", "--country", "XX"], "abacus: there is no rate card of 'XX'"),
        (
            ["clear", "bob", *SET],
            "abacus: no tier is set for 'bob' in GRP; `abacus tiers show` says what counts",
        ),
        (
            ["set", "b\x1fob", "gold", *SET],
            "abacus: 'b\\x1fob' is not a member's id: 1 to 128 printable characters, no space at either end",
        ),
        (
            ["set", "bob", "emperor", *SET],
            "abacus: no card of GRP prices the tier 'emperor'; there are gold, member, platinum, silver",
        ),
        (["set", "bob", "gold", "--program", "OVO", "--reason", "x"], "abacus: there is no program 'OVO'"),
        (
            ["clear", "bob", "--program", "GRP", "--reason", " "],
            "abacus: --reason: say why, it is kept with the change",
        ),
    ],
)
async def test_what_is_refused(env: dict[str, str], arguments: list[str], line: str) -> None:
    ran = await abacus("tiers", *arguments, env=env)
    assert (ran.code, ran.out) == ((1 if line.startswith("abacus: there is no ") else 2), "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1


async def test_without_the_database(env: dict[str, str]) -> None:
    ran = await abacus("tiers", "roll", "--due", env={"ABACUS_DATABASE_URL": DOWN})
    assert (ran.code, ran.err.count("\n")) == (1, 1)


async def test_the_worker_needs_kafka(env: dict[str, str]) -> None:
    ran = await abacus("worker", "tierkeeper", env=env)
    assert (ran.code, ran.err) == (2, "abacus: ABACUS_KAFKA_BOOTSTRAP is not set\n")


@pytest.mark.long
async def test_a_second_run_is_refused_and_kill_9_leaves_a_run_that_the_next_one_ends(house: House) -> None:
    """The job in a process of its own is held up in the middle, by a lock on one of its members, and killed there."""
    count, pool = 3000, house.pool
    now = SystemClock().now()
    home = await home_of(pool, "bob")
    members = [neighbour(f"m{number:06}-") for number in range(count)]
    async with pool.acquire(schema=home) as connection:
        await connection.execute(
            "insert into account_tier (member_id, program, country, tier, until, last_seq, changes)"
            " select member, 'GRP', 'SG', 'silver', date '2022-06-30', 1, 1 from unnest($1::text[]) member",
            members,
        )
    command = (sys.executable, "-m", "abacus", "tiers", "roll", "--due", "--country", "SG", "--json")
    async with pool.acquire(schema=home) as holding:
        transaction = holding.transaction()
        await transaction.start()
        await holding.fetch("select 1 from account_tier where member_id = $1 for update", members[2500])
        first = await asyncio.create_subprocess_exec(*command, env=house.environment(), stdout=asyncio.subprocess.PIPE)
        try:
            await until(lambda: _stepped_down(pool, 2000))
            refused = await abacus("tiers", "roll", "--due", "--country", "SG", env=house.environment())
            assert refused.code == 2
            assert refused.err == "abacus: the tiers of SG are being rolled already; let that run end\n"
            others = await abacus("tiers", "roll", "--due", "--json", env=house.environment())
            assert (others.code, others.err) == (2, refused.err)
            assert {run["country"] for run in others.json} == {"ID", "MY", "PH", "TH", "VN"}
        finally:
            first.kill()
            await first.wait()
        await transaction.rollback()
    await until(lambda: _nobody_rolls(pool))
    second = await asyncio.create_subprocess_exec(*command, env=house.environment(), stdout=asyncio.subprocess.PIPE)
    out, _ = await second.communicate()
    (run,) = json.loads(out)
    assert (run["found"], run["stepped_down"], second.returncode) == (count, count, 0)
    assert run["started_at"] > now.isoformat()
    assert len(await told(pool)) == count
    assert await pool.fetchval("select count(*) from account_tier where tier = 'member'") == count


async def _stepped_down(pool: Pool, count: int) -> bool:
    return int(await pool.fetchval("select coalesce(sum(stepped_down), 0) from tier_roll") or 0) >= count


async def _nobody_rolls(pool: Pool) -> bool:
    return not await pool.fetchval(
        "select count(*) from pg_locks where locktype = 'advisory' and database ="
        " (select oid from pg_database where datname = current_database())"
    )
