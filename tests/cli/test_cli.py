"""The command line as people and scripts meet it: outputs, exit codes, one-line errors."""

import json
from pathlib import Path

import pytest

from abacus.cli.examples.stream import BOB
from tests.support.commands import DOWN, abacus, abacus_process
from tests.support.house import House, completed, until

pytestmark = pytest.mark.once

QUEUES = ("award", "retry", "expiry", "campaign-retry")


@pytest.mark.parametrize(
    ("arguments", "env", "code", "line"),
    [
        (["migrate"], {}, 2, "abacus: ABACUS_DATABASE_URL is not set"),
        (
            ["migrate"],
            {"ABACUS_DATABASE_URL": "mysql://x"},
            2,
            "abacus: ABACUS_DATABASE_URL: an address of the form postgresql://user@host:port/database is",
        ),
        (
            ["worker", "juggler"],
            {},
            1,
            "abacus: there is no worker 'juggler'; there are calculator, retrier, awarder",
        ),
        (
            ["worker", "calculator"],
            {"ABACUS_DATABASE_URL": DOWN},
            2,
            "abacus: ABACUS_KAFKA_BOOTSTRAP is not set",
        ),
        (["explain", "txn:a:b"], {"ABACUS_DATABASE_URL": DOWN}, 1, "abacus: database unavailable: "),
        (["ledger", "verify"], {"ABACUS_LOG_FORMAT": "xml"}, 2, "abacus: ABACUS_LOG_FORMAT: "),
        (
            ["quarantine", "replay"],
            {"ABACUS_DATABASE_URL": DOWN},
            2,
            "abacus: say which: ids, --ids-from FILE, --reason REASON, or --all",
        ),
        (["relay", "rewind", "--from", "yesterday"], {"ABACUS_DATABASE_URL": DOWN}, 2, "abacus: --from: 'yesterday'"),
        (
            ["relay", "rewind", "--from", "0001-01-01T00:00:00+08:00"],
            {"ABACUS_DATABASE_URL": DOWN},
            2,
            "abacus: --from: '0001-01-01T00:00:00+08:00' is before",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
async def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], env: dict[str, str], code: int, line: str
) -> None:
    ran = await abacus(*arguments, env=env)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "env", "line"),
    [
        (["up", "--data-dir", __file__], {}, f"abacus: --data-dir: {__file__}: File exists; choose another"),
        (
            ["worker", "awarder"],
            {"ABACUS_DATABASE_URL": f"{DOWN}?sslmode=bogus"},
            "abacus: ABACUS_DATABASE_URL: `sslmode` parameter must be one of",
        ),
        (
            ["worker", "api"],
            {"ABACUS_DATABASE_URL": DOWN, "ABACUS_API_HOST": "192.0.2.1"},
            "abacus: ABACUS_API_HOST and ABACUS_API_PORT: cannot listen on 192.0.2.1:8080",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
async def test_what_cannot_be_started_is_said_in_one_line(arguments: list[str], env: dict[str, str], line: str) -> None:
    ran = await abacus_process(*arguments, env=env)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1


async def test_a_card_with_faults_names_each_and_publishes_nothing(house: House, tmp_path: Path) -> None:
    card = tmp_path / "sg.toml"
    shown = await abacus("rates", "show", "SG", "--toml", env=house.environment())
    card.write_text(shown.out.replace('food = "2"', 'food = "-2"').replace('currency = "SGD"', 'currency = "dollars"'))
    ran = await abacus("rates", "publish", str(card), "--yes", env=house.environment())
    assert ran.code == 2
    assert "verticals.food: '-2' is negative" in ran.err
    assert "currency: " in ran.err
    assert await house.pool.fetchval("select max(version) from rate_card where scope = 'SG'") == 1


@pytest.mark.long
async def test_the_operators_round(house: House, tmp_path: Path) -> None:
    """Set a tier, award by it, explain it, verify it; quarantine, show, mend the cause, replay; rewind the relay."""
    env = house.environment()
    refused = await abacus("tiers", "set", "bob", "emperor", "--program", "GRP", "--reason", "x", env=env)
    assert refused.code == 2
    assert "no card of GRP prices the tier 'emperor'" in refused.err
    tier = await abacus("tiers", "set", "bob", "platinum", "--program", "GRP", "--reason", "test", "--json", env=env)
    assert tier.json["tier"] == "platinum"

    yacht = completed(1, vertical="yachts")
    async with house.running():
        await house.produce([BOB, yacht])
        await until(lambda: _rows(house, "transfer", 1))
        await until(lambda: _rows(house, "quarantine", 1))

        explained = await abacus("explain", "txn:meals:T-BOB", "--json", env=env)
        assert (explained.json["points"], explained.json["recomputed"]) == (180, "same")
        human = await abacus("explain", "txn:meals:T-BOB", env=env)
        assert "15.00 SGD x 2 (vertical food) x 1 (eppf SG) x 2 (cashless wallet) x 3 (tier platinum)" in human.out
        assert (await abacus("explain", "txn:meals:NOBODY", env=env)).code == 1

        [item] = (await abacus("quarantine", "list", "--json", env=env)).json
        assert item["reason"] == "unknown-vertical"
        assert json.loads(item["body"]) == yacht
        shown = await abacus("quarantine", "show", item["id"], env=env)
        assert "vertical 'yachts' is not on the card of SG" in shown.out

        again = await abacus("quarantine", "replay", item["id"], "--json", env=env)
        assert again.json == {"replayed": [item["id"]], "still_held": [], "missing": []}
        await until(lambda: _rows(house, "quarantine where status = 'held' and replays = 1", 1))

        card = (await abacus("rates", "show", "SG", "--toml", env=env)).out
        path = tmp_path / "sg.toml"
        path.write_text(card.replace('food = "2"', 'food = "2"\nyachts = "10"'))
        published = await abacus("rates", "publish", str(path), "--yes", "--json", env=env)
        assert published.json["published"][0]["name"] == "SG@2"

    async with house.running():
        await abacus("quarantine", "replay", "--reason", "unknown-vertical", env=env)
        await until(lambda: _rows(house, "transfer", 2))

    status = (await abacus("relay", "status", "--json", env=env)).json
    assert status["topic"] == house.settings.points_topic
    rewound = (await abacus("relay", "rewind", "--from", "start", "--json", env=env)).json
    assert rewound["waiting"] == 2
    report = await abacus("ledger", "verify", "--json", env=env)
    assert report.code == 0
    assert (report.json["clean"], report.json["transfers"]) == (True, 2)


@pytest.mark.long
async def test_queues_and_dead_letters(house: House) -> None:
    env = house.environment()
    names = (await abacus("queues", "ensure", "--json", env=env)).json
    prefix = house.settings.queue_prefix
    assert sorted(names) == sorted(prefix + name for queue in QUEUES for name in (queue, f"{queue}-dlq"))
    letters = (await abacus("dlq", "list", "--json", env=env)).json
    assert {letter["queue"]: letter["messages"] for letter in letters} == {
        f"{prefix}{queue}-dlq": 0 for queue in QUEUES
    }
    assert (await abacus("dlq", "redrive", "award", "--json", env=env)).json == {"queue": "award", "moved": 0}
    assert (await abacus("dlq", "redrive", "lunch", env=env)).code == 1


async def _rows(house: House, table: str, count: int) -> bool:
    return int(await house.pool.fetchval(f"select count(*) from {table}")) == count
