"""`abacus journeys` on a real Postgres: the examples of the page of journeys, from a file to a version in force."""

import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.engage.journeys.decide.seat import Arrived, Moved, Waits
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.journeys.mover import Mover
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.engage.journeys.travelling import come_in, entry
from tests.signals.segments.sets_of_members import load
from tests.support.commands import Ran, abacus
from tests.support.paths import DOCS
from tests.support.staff import hire

pytestmark = pytest.mark.once

Command = Callable[..., Awaitable[Ran]]
EXAMPLES: Final = ("journey-welcome", "journey-lapsing", "journey-back", "journey-eleven")


@pytest.fixture
async def command(database_url: str, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=datetime.now(UTC))
    shutil.copytree(DOCS / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    tokens = {
        "cleo": await hire(pool, "cleo", "country_editor:SG"),
        "dora": await hire(pool, "dora", "approver:SG"),
        "sue": await hire(pool, "sue", "support:SG"),
    }

    async def run(*words: str, by: str = "cleo") -> Ran:
        return await abacus(
            *words, env={"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": tokens[by], "COLUMNS": "200"}
        )

    return run


async def approved(command: Command, file: str) -> None:
    """Publishes a file, and lets another person agree."""
    submitted = await command("journeys", "publish", file, "--json")
    (approval,) = [each["approval"] for each in submitted.json["submitted"]]
    words = ("approve", approval["approval_id"], "--digest", approval["digest"])
    assert (await command("approvals", *words, by="dora")).code == 0


def changed(file: str, *changes: tuple[str, str]) -> str:
    """The name of a file with these changes to an example."""
    text = Path(file).read_text(encoding="utf-8")
    for old, new in changes:
        text = text.replace(old, new)
    return written("changed.toml", text)


def written(file: str, text: str) -> str:
    Path(file).write_text(text, encoding="utf-8")
    return file


async def test_the_examples_have_no_faults(command: Command) -> None:
    assert (await command("offers", "publish", "double-points.toml")).code == 0
    ran = await command("journeys", "lint", *(f"{each}.toml" for each in EXAMPLES))
    assert (ran.code, len(ran.out.splitlines())) == (0, len(EXAMPLES)), ran.err


@pytest.mark.long
async def test_one_member_is_followed_through_with_each_decision(command: Command) -> None:
    words = ("--member", "bob", "--context", "last-order.json", "--at", "2026-02-01T00:00:00+08:00")
    ran = await command("journeys", "simulate", "journey-back.toml", *words, "--then", "orders-after.json", "--json")
    assert ran.code == 0, ran.err
    legs = ran.json["legs"]
    assert [[each["node"] for each in leg["trail"]] for leg in legs] == [
        ["arms"],
        ["month"],
        ["monday", "miss_you"],
        [],
    ]
    assert [each["key"] for leg in legs for each in leg["done"]] == ["journey:come_back:1:bob:4"]
    assert legs[2]["waits"]["over"] == "2026-02-23T02:00:00+00:00"
    assert (legs[3]["at"], legs[3]["left"]["reason"]) == ("2026-02-18T04:30:00+00:00", "bought")
    ran = await command("journeys", "simulate", "journey-eleven.toml", "--member", "bob", "--json")
    (which,) = [each for leg in ran.json["legs"] for each in leg["trail"] if each["node"] == "which"]
    assert (which["way"], len(which["conditions"])) == ("otherwise", 11)
    assert which["conditions"][-1] == {"condition": "member.balance gt 0", "value": "0", "holds": False}


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("journey-welcome.toml",), "members enter welcome by transactions/transaction.completed; write --event"),
        (("journey-eleven.toml",), "members enter new_year by no event; write --member"),
        (("journey-back.toml", "--member", "bob"), "/last_order_at: missing"),
        (("journey-welcome.toml", "--event", "last-order.json"), "it is no event by which members enter welcome"),
    ],
)
async def test_what_is_lacking_is_told(command: Command, words: tuple[str, ...], refusal: str) -> None:
    ran = await command("journeys", "simulate", *words)
    assert ran.code == 2
    assert refusal in ran.err


@pytest.mark.long
async def test_who_does_not_enter_is_told_why(command: Command) -> None:
    ran = await command(
        "journeys", "simulate", "journey-lapsing.toml", "--member", "bob", "--context", "few.json", "--json"
    )
    assert ran.code == 2, "the offer is not there"
    assert (await command("offers", "publish", "double-points.toml")).code == 0
    written("few.json", '{"points": 99, "expires_at": "2026-01-31T16:00:00Z"}')
    ran = await command(
        "journeys", "simulate", "journey-lapsing.toml", "--member", "bob", "--context", "few.json", "--json"
    )
    assert (ran.json["against"], ran.json["legs"]) == ("its rule does not hold", [])
    assert ran.json["conditions"] == [{"condition": "context.points gte 100", "value": "99", "holds": False}]


@pytest.mark.long
async def test_a_journey_is_tried_with_a_segment(command: Command, pool: Pool) -> None:
    await load(pool, "vip", "ann", "bob", "cid")
    words = ("journeys", "dry-run", "journey-eleven.toml", "--segment", "vip")
    found = (await command(*words, "--json")).json
    assert (found["members"], found["looked_at"], found["entered"]) == (3, 3, 3)
    assert {"node": "which", "way": "otherwise", "to": "through", "members": 3} in found["ways"]
    assert found["left"] == [{"reason": "through", "members": 3}]
    ran = await command(*words, "--members", "2")
    assert "2 of 3 members of vip@1 looked at: 2 would enter new_year" in ran.out
    assert (await command(*words[:-1], "nobody")).code == 1


@pytest.mark.long
async def test_a_version_takes_members_in_once_a_second_person_agrees(command: Command, pool: Pool) -> None:
    """Each node keeps its number, also beside a node that is gone."""
    await approved(command, "journey-welcome.toml")
    renamed = ("[nodes.remind]", "[nodes.again]"), ('otherwise = "remind"', 'otherwise = "again"')
    await approved(command, changed("journey-welcome.toml", *renamed))
    store = JourneyStore(pool)
    first, second = [each.document for each in await store.history("welcome")]
    numbers = {name: node.number for name, node in first.nodes.items()}
    assert numbers == {"hello": 1, "remind": 2, "second_order": 3, "thank": 4, "through": 5}
    assert {name: node.number for name, node in second.nodes.items()} == {
        **{name: number for name, number in numbers.items() if name != "remind"},
        "again": 6,
    }
    assert await JourneyVersions(store).of("welcome", 1) == first
    assert [each.label for each in await store.in_force(datetime.now(UTC))] == ["welcome@2"]


@pytest.mark.long
async def test_journeys_do_not_start_each_other_without_end(command: Command) -> None:
    head = {"country": "SG", "timezone": "Asia/Singapore", "entry": {"api": True}, "begin": "pause"}
    times = {"starts_at": "2026-01-01T00:00:00+08:00", "ends_at": "2036-01-01T00:00:00+08:00"}
    end = {"exit": "end"}
    for name, other in (("one", "two"), ("two", "one")):
        alone = {"pause": {"wait": {"for": "1d"}, "next": "end"}, "end": end}
        start = {"do": {"start": {"journey": other}}, "next": "end"}
        starting = {"pause": {"wait": {"for": "1d"}, "next": "on"}, "on": start, "end": end}
        for place, nodes in enumerate((alone, starting)):
            written(f"{name}{place}.json", json.dumps({"name": name, **head, **times, "nodes": nodes}))
    for file in ("one0.json", "two0.json", "one1.json"):
        assert (await command("journeys", "publish", file)).code == 0
    refused = await command("journeys", "publish", "two1.json")
    assert (refused.code, refused.err) == (
        2,
        "abacus: two1.json: nodes.on.do: would start itself without end: two → one → two\n",
    )


async def test_report_says_what_became_of_members(command: Command, pool: Pool) -> None:
    await approved(command, "journey-welcome.toml")
    day = datetime(2026, 3, 2, tzinfo=UTC).date()
    numbers = dict(map(tuple, await pool.fetch("select node, number from journey_node where journey = 'welcome'")))
    sums = [
        (numbers["hello"], "", "entered", "", 4),
        *((numbers["hello"], "", outcome, "", 4) for outcome in ("came", "passed")),
        (numbers["second_order"], "", "came", "", 4),
        (numbers["second_order"], "", "left", "bought", 1),
    ]
    for slot, (node, arm, outcome, why, members) in enumerate(sums):
        await pool.execute(
            "insert into journey_sum values ('welcome', 1, $1, $2, $3, $4, $5, $6, $7)",
            *(day, node, arm, outcome, why, slot, members),
        )
    dates = ("--from", "2026-03", "--to", "2026-03-31")
    found = (await command("journeys", "report", "welcome", *dates, "--json")).json
    waiting = {each["node"]: each["waiting"] for each in found["nodes"] if each["waiting"]}
    assert (found["entered"], found["inside"], found["left"], waiting) == (4, 3, {"bought": 1}, {"second_order": 3})
    told = await command("journeys", "report", "welcome", *dates)
    assert told.out.endswith("4 entered, 3 are inside, 1 left\n")
    assert (await command("journeys", "report", "welcome", "--version", "7")).code == 2


async def test_where_says_where_a_member_is_and_why_it_did_not_enter(command: Command, pool: Pool) -> None:
    await approved(command, "journey-welcome.toml")
    numbers = dict(map(tuple, await pool.fetch("select node, number from journey_node where journey = 'welcome'")))
    at = datetime(2026, 3, 2, 4, tzinfo=UTC)
    nobody = await command("journeys", "where", "welcome", "zoe")
    assert nobody.out == "zoe was never in welcome, and nothing came by which it could have entered\n"
    seat = (
        "insert into seat (member_id, journey, visit, member, version, key, country, entered_at, since, node, turn)"
        " values ('bob', 'welcome', 1, 1, 1, 'e', 'SG', $1, $1, $2, 0)"
    )
    await pool.execute(seat, at, numbers["second_order"])
    path, to = [numbers["hello"]], numbers["second_order"]
    trail = (
        "insert into journey_trail (journey, at, id, version, woken, node, turn, path, to_node, members, visits)"
        " values ('welcome', $1, 1, 1, 'entered', $2, 0, $3, $4, '{1}', '{1}')"
    )
    await pool.execute(trail, at, path[0], path, to)
    there = await command("journeys", "where", "welcome", "bob")
    assert "2026-03-02 12:00:00 +08, entered: hello → waits at second_order\n" in there.out
    assert there.out.endswith("waits at second_order\n")
    seen = json.dumps([["member.tier eq gold", "silver", False]]).encode()
    why = "its rule does not hold"
    await pool.execute("insert into journey_refusal values ('ann', 'welcome', 1, $1, $2, $3)", at, why, seen)
    ran = await command("journeys", "where", "welcome", "ann")
    assert ran.out == (
        "2026-03-02 12:00:00 +08, not entered into welcome@1: its rule does not hold; member.tier eq gold was silver\n"
    )
    told = (await command("journeys", "where", "welcome", "ann", "--json")).json
    assert (told["visits"], told["not_entered"]["conditions"][0]["value"]) == ([], "silver")


_RENAMED: Final = ("[nodes.second_order]", "[nodes.later]"), ('next = "second_order"', 'next = "later"')


async def _inside(pool: Pool, members: int) -> None:
    """Members who wait for a second order, on the first version."""

    async def go(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        waits = Waits(3, 0, now + timedelta(days=2), "Asia/Singapore", awaits=True, since=now)
        return [Moved(each, (1,), (), waits) for each in arrived]

    await come_in(pool, Mover(go, SystemClock()), [entry(number) for number in range(members)])


@pytest.mark.long
async def test_members_are_moved_to_another_version_once_a_second_person_agrees(command: Command, pool: Pool) -> None:
    await approved(command, "journey-welcome.toml")
    await _inside(pool, 3)
    words = ("journeys", "migrate", "welcome", "--from", "1", "--to", "2", "--json")
    assert (await command(*words)).err == "abacus: there is no journey 'welcome@2'; `abacus journeys list` prints all\n"
    await approved(command, changed("journey-welcome.toml", *_RENAMED))
    refused = await command(*words)
    assert (refused.code, refused.err) == (
        2,
        "abacus: second_order: welcome@2 has no such node; the map has to say where its members land\n",
    )
    by_map = (*words, "--map", written("map.toml", 'second_order = "later"'))
    looked = await command(*by_map, "--dry-run")
    row = {"from": "second_order", "to": "later", "goes_on": "by the start of its wait", "members": 3}
    assert row in looked.json["nodes"]
    assert (looked.json["members"], await _versions(pool)) == (3, {1: 3})
    assert (await command("approvals", "list", "--kind", "journey_migration", "--json")).json == {"approvals": []}
    asked = await command(*by_map)
    assert (asked.json["moved"], await _versions(pool)) == (None, {1: 3})
    waits = asked.json["approval"]
    assert (await command(*by_map)).json["approval"]["approval_id"] == waits["approval_id"], "it is the same"
    agreeing = ("approvals", "approve", waits["approval_id"], "--digest", waits["digest"])
    assert (await command(*agreeing)).code == 2, "who asked for it"
    assert (await command(*agreeing, by="dora")).code == 0
    assert await _versions(pool) == {1: 3}
    assert ((await command(*by_map)).json["moved"], await _versions(pool)) == (3, {2: 3})
    assert (await command(*by_map)).json["moved"] == 0
    did = await pool.fetch(
        "select details ->> 'did', details ->> 'approved_by' from audit_log"
        " where subject = 'journey:welcome' and details ->> 'did' like '%migrat%' order by at"
    )
    assert [tuple(each) for each in did] == [
        ("allow-migration", "person:dora"),
        ("migrate", None),
        ("migrate", None),
    ]
    other = await command(*words, "--map", written("map.toml", 'second_order = "through"'), "--dry-run")
    assert other.json["members"] == 0
    back = await command("journeys", "migrate", "welcome", "--from", "2", "--to", "1", "--dry-run")
    assert (back.code, back.err) == (
        2,
        "abacus: welcome@1 is not another version that is in force; members are moved only to that\n",
    )


async def _versions(pool: Pool) -> dict[int, int]:
    """How many members are inside each version."""
    return dict(map(tuple, await pool.fetch("select version, count(*) from seat where left_at is null group by 1")))


async def test_support_lets_a_member_in(command: Command, pool: Pool) -> None:
    await approved(command, "journey-back.toml")
    words = ("journeys", "enter", "come_back", "bob", "--context", "last-order.json", "--reason", "it was asked")
    asked = await command(*words, "--key", "1", "--json", by="sue")
    assert (asked.json["journey"], asked.json["member_id"], asked.json["status"]) == ("come_back", "bob", "waiting")
    assert (await command(*words, "--key", "1", by="sue")).out == "bob enters come_back\n"
    assert await pool.fetchval("select count(*) from action where receiver = 'journey:come_back'") == 1
    assert (
        await pool.fetchval("select distinct details ->> 'of' from audit_log where subject = 'member:bob'")
        == "come_back"
    )
    assert "may not move points" in (await command(*words, by="cleo")).err
    refused = await command("journeys", "enter", "come_back", "bob", "--reason", "it was asked", by="sue")
    assert "/last_order_at: missing" in refused.err


async def test_members_who_could_not_be_moved_are_listed_and_go_on_by_command(command: Command, pool: Pool) -> None:
    await approved(command, "journey-welcome.toml")
    assert (await command("journeys", "aside", "--json")).json == []
    number = await pool.fetchval("select number from journey_node where node = 'second_order'")
    set_aside = (
        "insert into pack_aside values ('welcome', 7, true, $1, 1, $2, 0, 'UTC', null, '{1,2}', '{1,1}', 'a bug', $1)"
    )
    at = datetime(2026, 3, 2, 4, tzinfo=UTC)
    await pool.execute(set_aside, at, number)
    await pool.execute(
        "insert into journey_deed_aside"
        " select 'm' || n, 'welcome', 1, (select number from journey_node where node = 'thank'), 0, n, 1, null, $1,"
        " 'another', $1 from generate_series(1, 502) n",
        at,
    )
    wait, deed = (await command("journeys", "aside", "welcome", "--json")).json
    assert (wait["node"], wait["what"], wait["members"], wait["fault"]) == ("second_order", "wait", 2, "a bug")
    assert (deed["node"], deed["what"], deed["members"], deed["fault"]) == ("thank", "deed", 502, "another")
    assert (await command("journeys", "retry", "welcome", by="dora")).code == 2
    assert (await command("journeys", "retry", "welcome")).out == "504 members of welcome go on\n"
    assert await pool.fetchval("select due from pack") == at
    rows = await pool.fetch("select at, cardinality(members) from journey_deed order by 2")
    assert [tuple(row) for row in rows] == [(at, 2), (at, 500)]
    assert (await command("journeys", "retry", "welcome", "--json")).json == {"journey": "welcome", "members": 0}
