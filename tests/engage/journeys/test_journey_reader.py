"""Journeys as documents: every fault with its path, and the same journey again from what was written."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from abacus.core.document_text import read_toml
from abacus.engage.journeys.decide.journey_document import described, to_document, to_toml
from abacus.engage.journeys.decide.journey_reader import JourneyFaults, parse_journey, read_journey, restore_journey
from abacus.engage.notify.decide.template import Unrenderable, rendered
from tests.engage.journeys.examples import AROUND, HELLO, ORDERS, document, joined, journey, nodes, rule
from tests.engage.journeys.written import WRITTEN

_GOLD: Final = rule("member.tier", "eq", "gold")
_GIVE: Final = {"do": {"award": {"points": 50}}, "next": "done"}


def _faults(written: Mapping[str, Any]) -> list[str]:
    """Its faults, those of its templates too."""
    read = read_journey(written, AROUND)
    answers: list[object] = []
    for trial in read.trials:
        try:
            answers.append(rendered(trial.rendering))
        except Unrenderable as error:
            answers.append(error)
    with pytest.raises(JourneyFaults) as raised:
        read.judged(answers)
    return [str(fault) for fault in raised.value.faults]


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_same_journey_comes_out_of_what_was_written(written: Mapping[str, Any]) -> None:
    first = parse_journey(written, AROUND)
    assert parse_journey(to_document(first), AROUND) == first
    assert parse_journey(read_toml(to_toml(first)), AROUND) == first
    stored = json.loads(json.dumps(to_document(first), sort_keys=True))
    assert restore_journey(stored, 3, {}) == first.numbered(3, {})
    assert to_document(restore_journey(stored, 3, {})) == to_document(first)


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_messages_render(written: Mapping[str, Any]) -> None:
    for trial in read_journey(written, AROUND).trials:
        assert rendered(trial.rendering).title


def test_nodes_stand_as_members_come_to_them() -> None:
    assert list(to_document(journey())["nodes"]) == ["hello", "second", "thank", "remind", "done"]  # type: ignore[call-overload]  # a mapping


def test_a_change_of_a_node_is_one_line() -> None:
    before, after = (
        journey(),
        journey(nodes={**document()["nodes"], "thank": _GIVE | {"do": {"award": {"points": 60}}}}),
    )
    changed = {path for path, words in described(after) if (path, words) not in set(described(before))}
    assert changed == {"nodes.thank"}


_LOOP: Final = {"branch": [{"when": _GOLD, "next": "give"}], "otherwise": "done"}
FAULTS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "a node that nothing reaches": (
        nodes("give", give=_GIVE, lost=_GIVE),
        "nodes.lost: no node leads here",
    ),
    "a path without an end": (
        nodes("which", which=_LOOP, give={**_GIVE, "next": "pause"}, pause={"wait": {"for": "1d"}, "next": "give"}),
        "nodes.give: no exit can be reached from here",
    ),
    "a loop without a wait": (
        nodes("give", give={**_GIVE, "next": "which"}, which=_LOOP),
        "nodes.give: goes round without a wait: give → which → give",
    ),
    "a loop over a wait that may be over at once": (
        {
            "entry": {"api": True},
            "context": {"at": "time"},
            **nodes(
                "give",
                give={**_GIVE, "next": "near"},
                near={"wait": {"until": "context.at"}, "next": "which"},
                which=_LOOP,
            ),
        },
        "nodes.give: goes round without a wait: give → near → which → give",
    ),
    "a loop over a rule that may hold at once": (
        nodes(
            "give",
            give={**_GIVE, "next": "rule"},
            rule={"wait": {"for": "1d", "rule": {"when": _GOLD, "every": "1h"}}, "next": "give", "otherwise": "done"},
        ),
        "nodes.give: goes round without a wait: give → rule → give",
    ),
    "something is done for control": (
        nodes(
            "arms",
            arms={
                "split": [{"arm": "control", "share": 50, "next": "give"}, {"arm": "a", "share": 50, "next": "done"}]
            },
            give=_GIVE,
        ),
        "nodes.give: is reached in the arm control of arms, in which nothing is done",
    ),
    "an entry that cannot match": (
        {"entry": {"on": ORDERS, "when": joined([rule("var.amount", "gt", "9"), rule("var.amount", "lt", "5")])}},
        "entry.when: can never hold: no var.amount is all that is asked of it",
    ),
    "an entry of another country": (
        {"entry": {"on": ORDERS, "when": rule("var.country", "eq", "ID")}},
        "entry.when: can never hold: var.country is SG",
    ),
    "an entry when the journey is over": (
        {"entry": {"segment": "regulars", "at": "2026-04-01T00:00:00+08:00"}},
        "entry.at: is not within the time of the journey, so nobody enters",
    ),
    "an unknown segment": (
        {"entry": {"segment": "strangers"}},
        "entry.segment: no segment 'strangers' is defined; `abacus segments list` prints what there is",
    ),
    "two ways in": (
        {"entry": {"on": ORDERS, "api": True}},
        "entry.on: the entry names 2 ways in; write one of on, segment, life, api",
    ),
    "a field of the context that is missing, of a wait": (
        {
            "entry": {"api": True},
            "context": {"seats": "integer"},
            **nodes("near", near={"wait": {"until": "context.at"}, "next": "done"}),
        },
        "nodes.near.wait.until: the context of this journey has no field 'at'; it has seats",
    ),
    "a field of the context that is no time": (
        {
            "entry": {"api": True},
            "context": {"seats": "integer"},
            **nodes("near", near={"wait": {"until": "context.seats"}, "next": "done"}),
        },
        "nodes.near.wait.until: context.seats is of type integer, and time is wanted",
    ),
    "a field of the context that is missing, of a rule": (
        nodes(
            "which", which={"branch": [{"when": rule("context.seats", "eq", 1), "next": "done"}], "otherwise": "done"}
        ),
        "nodes.which.branch[0].when.lhs: the context of this journey has no field 'seats'; it has no fields",
    ),
    "a context that nobody brings": (
        {"context": {"seats": "integer"}},
        "context: only members that enter by the API bring a context; write `api = true`",
    ),
    "a template that does not render": (
        nodes("hello", hello={"do": {"tell": {"en": "Hi\n{{ event.colour }}"}}, "next": "done"}),
        (
            "nodes.hello.do.tell.en: does not render for transactions/transaction.completed: 'dict object' has no "
            "attribute 'colour' (an unknown field)"
        ),
    ),
    "a message in a missing language": (
        {"languages": ["en", "id"], **nodes("hello", hello={"do": HELLO, "next": "done"})},
        "nodes.hello.do.tell: has no id; each message is in en, id",
    ),
    "too many nodes": (
        nodes(
            "n0", **{f"n{place}": {**_GIVE, "next": f"n{place + 1}" if place < 499 else "done"} for place in range(500)}
        ),
        "nodes: 501 entries; write at most 500",
    ),
    "too many branches": (
        nodes("which", which={"branch": [{"when": _GOLD, "next": "done"}] * 51, "otherwise": "done"}),
        "nodes.which.branch: write an array of 1 to 50 tables",
    ),
    "a way to nowhere": (
        nodes("give", give={**_GIVE, "next": "nowhere"}),
        "nodes.give.next: there is no node 'nowhere'",
    ),
    "a beginning that is not there": ({"begin": "start"}, "begin: there is no node 'start'"),
    "a wait for an event without a time": (
        nodes("w", w={"wait": {"event": {"on": ORDERS}}, "next": "done", "otherwise": "done"}),
        "nodes.w.wait.for: the wait has 0 ends; write one of for, at, until",
    ),
    "a wait for an event with one way": (
        nodes("w", w={"wait": {"for": "1d", "event": {"on": ORDERS}}, "next": "done"}),
        "nodes.w.otherwise: missing",
    ),
    "a plain wait with two ways": (
        nodes("w", w={"wait": {"for": "1d"}, "next": "done", "otherwise": "done"}),
        "nodes.w.otherwise: unknown",
    ),
    "a rule that is never looked at": (
        nodes("w", w={"wait": {"for": "1d", "rule": {"when": _GOLD}}, "next": "done", "otherwise": "done"}),
        "nodes.w.wait.rule.every: missing; write how often the rule is looked at anew, or `after` which events",
    ),
    "a node that is two things": (
        nodes("w", w={"wait": {"for": "1d"}, "rate": 5, "next": "done"}),
        "nodes.w.wait: the node is 2 things at once; write one of wait, branch, split, rate, do, exit",
    ),
    "shares that are no whole": (
        nodes("w", w={"split": [{"arm": "a", "share": 50, "next": "done"}, {"arm": "b", "share": 49, "next": "done"}]}),
        "nodes.w.split: the shares make 99; they have to make 100",
    ),
    "a variable of no event": (
        {"entry": {"segment": "regulars"}, "exits": [{"name": "big", "when": rule("var.amount", "gt", "5")}]},
        "exits[0].when.lhs: 'var.amount' is unknown here: there is no event that it could be of",
    ),
    "points by the amount of no event": (
        {"entry": {"segment": "regulars"}, **nodes("g", g={"do": {"award": {"multiple": "2"}}, "next": "done"})},
        "nodes.g.do.award: members enter by no event, so there is no amount that points follow from; write points",
    ),
    "a journey that starts itself": (
        nodes("b", b={"do": {"start": {"journey": "welcome"}}, "next": "done"}),
        "nodes.b.do.start.journey: a journey cannot start itself",
    ),
    "a journey that nobody can start": (
        nodes("b", b={"do": {"start": {"journey": "herd"}}, "next": "done"}),
        "nodes.b.do.start.journey: members do not enter herd by the API; only such a journey can be started",
    ),
    "a journey of another country": (
        nodes("b", b={"do": {"start": {"journey": "selamat"}}, "next": "done"}),
        "nodes.b.do.start.journey: selamat is a journey of ID, this is of SG",
    ),
    "a context that is not whole": (
        nodes("b", b={"do": {"start": {"journey": "farewell", "context": {"reason": "x"}}}, "next": "done"}),
        "nodes.b.do.start.journey: the context of farewell has points too; write its value under `context`",
    ),
    "a context of another type": (
        nodes(
            "b",
            b={
                "do": {"start": {"journey": "farewell", "context": {"reason": 5, "points": "var.amount"}}},
                "next": "done",
            },
        ),
        "nodes.b.do.start.context.points: var.amount is of type decimal, and integer is wanted",
    ),
    "an end of no journey": (
        nodes("b", b={"do": {"end": {"journey": "unknown"}}, "next": "done"}),
        "nodes.b.do.end.journey: no journey 'unknown' is there; `abacus journeys list` prints all",
    ),
    "two deeds": (
        nodes("b", b={"do": {"call": "crm", "award": {"points": 1}}, "next": "done"}),
        "nodes.b.do: names 2 deeds; write one of award, tell, call, publish, grant, start, end",
    ),
    "visits without a bound": ({"re_entry": {"again": "after_leaving"}}, "re_entry.at_most: missing"),
    "a value that no event has": (
        {"re_entry": {"again": "each", "at_most": 5, "at_once": 5, "of": "var.order_id"}},
        "re_entry.of: transactions/transaction.completed has no variable 'order_id'",
    ),
    "a value of the wrong type": (
        {"re_entry": {"again": "each", "at_most": 5, "at_once": 5, "of": "var.amount"}},
        "re_entry.of: var.amount is of type decimal; a text or an integer is wanted",
    ),
    "the whole day is quiet": ({"quiet_hours": "08:00-08:00"}, "quiet_hours: '08:00-08:00' is the whole day"),
    "an unknown zone": (
        nodes("w", w={"wait": {"for": "1d", "zone": "Asia/Singapur"}, "next": "done"}),
        "nodes.w.wait.zone: 'Asia/Singapur' is not a time zone; did you mean Asia/Singapore?; or member, or country",
    ),
    "no card": (
        {"country": "XX"},
        "country: no rate card of XX is in force, so there is no program to award points in",
    ),
    "an exit by neither": ({"exits": [{"name": "none"}]}, "exits[0].when: missing"),
    "two exits of one name": (
        {"exits": [{"name": "one", "when": _GOLD}, {"name": "one", "when": _GOLD}]},
        "exits: two have one name",
    ),
    "a slip of the pen": (
        {"goal": {"on": ORDERS, "within": "7d", "witin": "8d"}},
        "goal.witin: unknown; did you mean within?",
    ),
}


@pytest.mark.parametrize(("changes", "fault"), FAULTS.values(), ids=FAULTS)
def test_every_fault_has_its_path(changes: Mapping[str, Any], fault: str) -> None:
    assert fault in _faults(document(**changes))


def test_all_faults_come_at_once() -> None:
    faults = _faults(document(name="No", late="never", begin="nowhere", quiet_hours="x"))
    assert {fault.partition(":")[0] for fault in faults} == {"name", "late", "begin", "quiet_hours"}


def test_a_kind_of_messages_that_no_cap_knows_is_a_fault() -> None:
    with pytest.raises(JourneyFaults) as raised:
        parse_journey(document(kind="adverts"), AROUND)
    assert [each.path for each in raised.value.faults] == ["kind"]
    assert "write marketing or service" in str(raised.value)
