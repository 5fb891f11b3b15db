"""Where members land who are moved to another version, and when they go on there."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from abacus.core.fields import DocumentFaults
from abacus.engage.journeys.decide.migration import (
    GoesOn,
    Migration,
    Stand,
    faults_of_stands,
    landed,
    read_migration,
)
from abacus.engage.journeys.decide.seat import Arrived, Seat, Waits
from tests.engage.campaigns.offers import NOW
from tests.engage.journeys.examples import HELLO, ORDERS, journey, nodes

DAY = timedelta(days=1)
DONE = {"exit": "through"}
TOLD = {"do": HELLO, "next": "done"}
LONGER = {"wait": {"for": "5d", "event": {"on": ORDERS}}, "next": "thank", "otherwise": "remind"}


def moved_to(written: dict[str, Any] | None = None, **changes: Any) -> Migration:
    """From the example, in which members wait at `second` for an order, to a version with these changes."""
    return read_migration(journey(), journey(2, **changes), written or {})


def seat(migration: Migration, **changes: Any) -> Seat:
    second = migration.before.nodes["second"].number
    plain = Seat(
        *("bob", "welcome", 1, 7, 1, "e", "SG", NOW - DAY, second, 0, None, NOW - DAY, None, None, None),
    )
    return plain._replace(**changes)


def lands(migration: Migration, who: Seat, at: str, due: Any = NOW + DAY) -> tuple[str, Waits]:
    arrived = Arrived(who, migration.before.nodes[at].number, 1, "a", due=due)
    moved = landed(migration, arrived, due, migration.before.timezone, NOW)
    assert isinstance(moved.then, Waits)
    assert (moved.actions, moved.path, moved.arrived.seat.version) == ((), (), 2)
    assert (moved.then.turn, moved.then.arm) == (1, "a")
    return migration.after.by_number[moved.then.node].name, moved.then


def of(second: Any, *, begin: str = "hello", **more: Any) -> dict[str, Any]:
    rest = {"hello": {"do": HELLO, "next": "second"}, "thank": TOLD, "remind": TOLD}
    return nodes(begin, **{**rest, "second": second, **more})


def test_a_wait_for_an_event_keeps_its_start_and_has_the_length_of_the_other_version() -> None:
    migration = moved_to(**of(LONGER))
    node, waits = lands(migration, seat(migration), "second")
    assert (node, waits.awaits, waits.since, waits.due) == ("second", True, NOW - DAY, NOW + 4 * DAY)


def test_a_wait_that_is_over_by_now_is_over_now() -> None:
    """Not long ago: what is done late may not be done at all."""
    migration = moved_to(**of({**LONGER, "wait": {"for": "1h", "event": {"on": ORDERS}}}))
    assert lands(migration, seat(migration), "second")[1].due == NOW


def test_a_wait_until_a_rule_holds_is_looked_at_at_once() -> None:
    rule = {"when": {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}, "every": "15m"}
    migration = moved_to(**of({**LONGER, "wait": {"for": "5d", "rule": rule}}))
    _, waits = lands(migration, seat(migration), "second")
    assert (waits.due, waits.since, waits.awaits) == (NOW, NOW - DAY, True)


def test_a_moment_of_the_context_is_read_from_what_the_member_brought() -> None:
    given: dict[str, Any] = {"entry": {"api": True}, "context": {"flies_at": "time"}}
    flight = {"wait": {"until": "context.flies_at", "before": "3h", "event": {"on": ORDERS}}}
    silent: dict[str, Any] = {"wait": {"for": "1d"}, "next": "done"}
    head: dict[str, Any] = {"hello": {**silent, "next": "second"}, "thank": silent, "remind": silent}
    before = journey(**given, **of(LONGER, **head))
    migration = read_migration(before, journey(2, **given, **of({**LONGER, **flight}, **head)), {})
    flies = orjson.dumps({"flies_at": (NOW + 2 * DAY).isoformat()})
    _, waits = lands(migration, seat(migration, context=flies), "second")
    assert waits.due == NOW + 2 * DAY - timedelta(hours=3)


@pytest.mark.parametrize(
    ("there", "goes_on", "due"),
    [
        ({"wait": {"for": "9d"}, "next": "done"}, GoesOn.AS_BEFORE, NOW + DAY),
        (LONGER, GoesOn.AS_BEFORE, NOW + DAY),
        (TOLD, GoesOn.AS_BEFORE, NOW + DAY),
        (DONE, GoesOn.AT_ONCE, NOW),
    ],
)
def test_a_message_that_waits_for_the_morning(there: Any, goes_on: GoesOn, due: Any) -> None:
    """Its time was booked, and holds where there is something to wait for."""
    changes = of(LONGER, begin="fork", fork=_fork("hello", "second"), hello=there)
    migration = moved_to(**changes)
    landing = migration.landing(migration.before.nodes["hello"].number)
    assert landing is not None
    assert landing.goes_on is goes_on
    waiting = seat(migration, node=None, turn=None)
    _, waits = lands(migration, waiting, "hello")
    assert (waits.awaits, waits.due) == (there is LONGER, due)
    assert waits.since == NOW, "what happened before it waited for an event does not count"


def _fork(one: str, other: str) -> dict[str, Any]:
    return {
        "branch": [{"when": {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}, "next": one}],
        "otherwise": other,
    }


def faults(written: dict[str, Any], **changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(DocumentFaults) as refused:
        moved_to(written, **changes)
    return [(each.path, each.message) for each in refused.value.faults]


GONE = nodes("hello", hello={"do": HELLO, "next": "later"}, later={"wait": {"for": "3d"}, "next": "done"})


def test_a_node_without_a_counterpart_has_to_be_in_the_map() -> None:
    said = "welcome@2 has no such node; the map has to say where its members land"
    assert faults({}, **GONE) == [("second", said), ("remind", said)]
    assert faults({"second": "later"}, **GONE) == [("remind", said)]
    migration = moved_to({"second": "later", "remind": "done"}, **GONE)
    assert lands(migration, seat(migration), "second")[0] == "later"
    assert migration.proposal(1_234).document == (
        '{"from":1,"nodes":{"hello":"hello","remind":"done","second":"later"},"to":2}'
    )
    assert migration.proposal(1_234).summary == (
        "move 1,234 members from welcome@1 to welcome@2: second to later, remind to done"
    )


def test_a_map_names_nodes_that_are_there() -> None:
    given = {"second": "later", "remind": "nowhere", "strange": "later", "hello": 5}
    assert faults(given, **GONE) == [
        ("remind", "there is no node 'nowhere' in welcome@2"),
        ("strange", "there is no such node in welcome@1"),
        ("hello", "write the name of a node of welcome@2"),
    ]


def test_members_have_what_the_other_version_reads() -> None:
    by_call: dict[str, Any] = {"entry": {"api": True}, "context": {"seats": "integer"}}
    plain = nodes("second", **{each: {"wait": {"for": "1d"}, "next": "done"} for each in ("second", "hello", "remind")})
    plain["nodes"]["second"]["next"], plain["nodes"]["hello"]["next"] = "hello", "remind"
    assert [path for path, _ in faults({}, **by_call, **plain)] == ["context"]
    with pytest.raises(DocumentFaults) as refused:
        read_migration(journey(**by_call, **plain), journey(2, **plain), {})
    assert [each.path for each in refused.value.faults] == ["context", "entry"]


def test_nobody_of_the_control_lands_before_a_deed() -> None:
    migration = moved_to()
    second = migration.before.nodes["second"].number
    assert faults_of_stands(migration, [Stand(second, "a"), Stand(second, None)]) == []
    (fault,) = faults_of_stands(migration, [Stand(second, "control")])
    assert fault.path == "second"
    (fault,) = faults_of_stands(migration, [Stand(99, None)])
    assert fault.path == "99"
