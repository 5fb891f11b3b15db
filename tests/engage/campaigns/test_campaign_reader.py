"""The document of a campaign: every fault with its path, and the way there and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.document_text import read_toml
from abacus.engage.campaigns.decide.campaign_reader import (
    CampaignFaults,
    parse_campaign,
    read_campaign,
    restore_campaign,
)
from abacus.engage.campaigns.decide.document import to_document, to_toml
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable, rendered, written
from tests.support.campaigns import campaign, document, publications

EQ = {"operator": "eq", "lhs": "var.vertical", "rhs": "mart"}
RIDES: dict[str, Any] = {"on": ["rides/ride.done"], "when": None}
FREE: dict[str, Any] = {"limits": {"unlimited": True}}


def faults(document: dict[str, Any]) -> list[str]:
    """What is wrong with it, as text."""
    read = read_campaign(document, publications())
    with pytest.raises(CampaignFaults) as caught:
        read.judged([answer_of(each.rendering) for each in read.trials])
    return str(caught.value).splitlines()


def answer_of(rendering: FilledTemplate) -> Words | Unrenderable:
    try:
        written(rendering)
        return rendered(rendering)
    except Unrenderable as fault:
        return fault


def deep(levels: int) -> dict[str, Any]:
    rule: dict[str, Any] = EQ
    for _ in range(levels - 1):
        rule = {"operator": "not", "conditions": [rule]}
    return rule


def doing(*deeds: dict[str, Any], **step: Any) -> dict[str, Any]:
    return {"steps": [{**step, "do": list(deeds)}]}


AWARD = {"award": {"points": 5}}
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"name": "Third Order"}, "name: 'Third Order' is not a name; write at most 64 small letters, digits and"),
    ({"name": None}, "name: missing"),
    ({"nmae": "x"}, "nmae: unknown; did you mean name?"),
    ({"about": "x" * 501}, "about: 501 characters; write at most 500"),
    ({"about": "a\x00b"}, "about: holds a NUL character, or half of a surrogate pair"),
    ({"about": 7}, "about: 7 is an integer; write a string"),
    ({"country": "sg"}, "country: 'sg' is not a country; write its two capitals (SG)"),
    ({"country": "XX"}, "country: no rate card of XX is in force, so there is no program to award points in"),
    ({"timezone": "Asia/Singapur"}, "timezone: 'Asia/Singapur' is not a time zone; did you mean Asia/Singapore?"),
    ({"starts_at": "2026-11-01"}, "starts_at: 2026-11-01T00:00:00 has no offset; add the local one, such as"),
    ({"ends_at": "2026-10-01T00:00:00+08:00"}, "ends_at: not after starts_at"),
    ({"ends_at": "2026-11-01T00:00:00+08:00"}, "ends_at: not after starts_at"),
    ({"ends_at": "2026-11-02T00:00:00+08:00"}, "ends_at: is over already"),
    ({"on": []}, 'on: write an array of types of events, such as ["transactions/transaction.completed"]'),
    ({"on": ["rides/ride.done"] * 51}, "on: 51 types of events; write at most 50"),
    ({"on": ["rides/ride.dne"]}, "on[0]: rides has no events of the type 'ride.dne'; did you mean ride.done?"),
    ({"on": ["ridse/ride.done"]}, "on[0]: no source 'ridse' is published; did you mean rides?"),
    (
        {"on": ["crowd/crowd.seen"], "when": None},
        "on: a campaign is for members: the events of crowd have none; a field of that source has to",
    ),
    ({"when": {**EQ, "lhs": "var.verical"}}, "when.lhs: 'var.verical' is unknown here; did you mean var.vertical?"),
    ({"when": {**EQ, "operator": "gt"}}, "when.operator: gt does not go with var.vertical, of type text; write"),
    ({"when": {**EQ, "rhs": 7}}, "when.rhs: 7 is an integer"),
    ({"when": {"operator": "or", "conditions": [EQ, {**EQ, "operator": "is"}]}}, "when.conditions[1].operator: 'is'"),
    ({"when": deep(13)}, "when: rules stand more than 12 deep in each other"),
    ({"when": {"operator": "or", "conditions": [EQ] * 300}}, "when: more than 300 conditions and groups of conditions"),
    ({"when": {**EQ, "lhs": "segment.clb", "rhs": True}}, "when.lhs: no segment 'clb' is defined; did you mean club?"),
    ({"when": {**EQ, "lhs": "segment.club", "rhs": 1}}, "when.rhs: 1 is an integer"),
    ({"when": {**EQ, "lhs": "external.rsk", "rhs": 1}}, "when.lhs: no external service 'rsk' is defined; did you mean"),
    ({"when": {**EQ, "lhs": "member.teir"}}, "when.lhs: 'member.teir' is unknown; did you mean member.tier?"),
    ({"when": {**EQ, "lhs": "counter.rides", "rhs": 1}}, "when.lhs: 'counter.rides' is not of the form counter.NAME("),
    ({"when": {**EQ, "lhs": "counter.rides(7x)", "rhs": 1}}, "when.lhs: '7x' is not a range; write today, week, month"),
    ({"when": {**EQ, "lhs": "counter.rids(7d)", "rhs": 1}}, "when.lhs: no counter 'rids' is defined; did you mean"),
    ({"weekdays": ["monday"]}, "weekdays: 'monday' is not a day; write mon, tue, wed, thu, fri, sat, sun"),
    ({"weekdays": []}, "weekdays: write an array of days, such as ['mon', 'tue']"),
    ({"hours": ["10:00"]}, "hours: '10:00' is not a range of hours such as 06:00-10:00"),
    ({"hours": ["22:00-06:00"]}, "hours: '22:00-06:00' ends before it begins; write two ranges, up to 24:00 and from"),
    ({"hours": ["06:00-10:00", "09:00-11:00"]}, "hours: two ranges overlap; write one"),
    ({"hours": ["25:00-26:00"]}, "hours: '25:00' is not an hour of the day such as 17:00"),
    ({"over": "year"}, "over: 'year'; write campaign, day, week, month, or the length of a sliding window, such as 7d"),
    ({"over": "400d"}, "over: '400d'; write campaign, day, week, month"),
    ({"split": {"a": 100}}, "split: write 2 to 10 arms with their shares, such as {control = 10, a = 90}"),
    ({"split": {"a": 50, "b": 40}}, "split: the shares make 90; they have to make 100"),
    ({"split": {"A": 50, "b": 50}}, "split: 'A' is not a name"),
    ({"priority": -1}, "priority: -1 is negative"),
    ({"priority": True}, "priority: true is a boolean; write a whole number without quotes"),
    ({"exclusive": "My Group"}, "exclusive: 'My Group' is not a name"),
    ({"respects_holdout": "yes"}, "respects_holdout: 'yes'"),
    ({"steps": []}, "steps: write an array of 1 to 20 tables"),
    ({"steps": [{"do": [AWARD]}] * 21}, "steps: write an array of 1 to 20 tables"),
    (doing(), "steps[0].do: write an array of 1 to 10 tables"),
    (doing(AWARD, AWARD), "steps[0].do: two awards; a step awards once, under its key"),
    (doing(AWARD, at=0), "steps[0].at: 0 is not between 1 and 1000000"),
    (doing(AWARD, at=2, every=2), "steps[0].every: beside `at`; write one of them"),
    (doing(AWARD, variant="a"), "steps[0].variant: 'a' is no arm in which something is done; the campaign has no"),
    (
        {**doing(AWARD, variant="control"), "split": {"control": 10, "a": 90}},
        "steps[0].variant: 'control' is no arm in which something is done; there are a",
    ),
    (
        doing({**AWARD, "call": "crm"}),
        "steps[0].do[0].do: names 2 deeds; write one of award, tell, call, publish, grant",
    ),
    (
        doing({"reward": {"points": 5}}),
        "steps[0].do[0].do: names 0 deeds; write one of award, tell, call, publish, grant",
    ),
    (doing({"grant": {}}), "steps[0].do[0].grant: write one of offer and reward"),
    (
        doing({"grant": {"offer": "lunch_invited", "reward": "coffee"}}),
        "steps[0].do[0].grant: write one of offer and reward",
    ),
    (doing({"grant": {"offer": "lnch"}}), "steps[0].do[0].grant.offer: no offer 'lnch' is there; `abacus offers list`"),
    (
        doing({"grant": {"offer": "lunch_20"}}),
        "steps[0].do[0].grant.offer: lunch_20 is not by invitation: its audience is public",
    ),
    (doing({"grant": {"offer": "makan"}}), "steps[0].do[0].grant.offer: makan is an offer of ID, this is of SG"),
    (doing({"grant": {"reward": "tea"}}), "steps[0].do[0].grant.reward: no reward 'tea' is there; `abacus rewards"),
    (doing({"grant": {"reward": "kopi"}}), "steps[0].do[0].grant.reward: kopi is a reward of ID, this is of SG"),
    (
        {"on": ["points/abacus.points.earned.v1"], "when": None, **doing({"grant": {"reward": "miles"}})},
        "steps[0].do[0].grant.reward: the points of miles would set the campaign off again",
    ),
    (doing({"grant": {"offer": "lunch_invited", "points": 5}}), "steps[0].do[0].grant.points: unknown"),
    (doing({"award": {}}), "steps[0].do[0].award: write one of points, multiple and formula"),
    (doing({"award": {"points": 0}}), "steps[0].do[0].award.points: 0 is not between 1 and"),
    (doing({"award": {"multiple": 2.5}}), "steps[0].do[0].award.multiple: 2.5 is a float"),
    (doing({"award": {"formula": {}}}), "steps[0].do[0].award.formula.eppf: no multiplier; write one of"),
    (
        {**RIDES, **doing({"award": {"multiple": "2"}})},
        "steps[0].do[0].award: only events of transactions/transaction.completed have an amount that points follow",
    ),
    (doing({**AWARD, "after": "2 hours"}), "steps[0].do[0].after: '2 hours' is not a length such as 90m, 2h or 7d"),
    (doing({**AWARD, "after": "2h", "at": "17:00"}), "steps[0].do[0].at: beside `after`; write one of them"),
    (doing({**AWARD, "unless": EQ}), "steps[0].do[0].unless: the deed is done at once; a guard needs `after` or `at`"),
    (
        doing({**AWARD, "after": "2h", "if_still": {**EQ, "lhs": "var.x"}}),
        "steps[0].do[0].if_still.lhs: 'var.x' is unknown here",
    ),
    (doing({"tell": {"id": "Hai\nHai"}}), "steps[0].do[0].tell: has no en; members of other languages"),
    (doing({"tell": {"en": "Hi\n{{foo}}"}}), "steps[0].do[0].tell.en: 'foo' is no field; there are campaign, count,"),
    (doing({"tell": {"en": "Hi\n{{"}}), "steps[0].do[0].tell.en: line 2:"),
    (
        doing({"tell": {"en": "Hi\n{{event.city}}"}}),
        "steps[0].do[0].tell.en: does not render for transactions/transaction.completed: ",
    ),
    (doing({"tell": {"en": "Hi\n{{1 / 0}}"}}), "steps[0].do[0].tell.en: does not render for transactions/"),
    (doing({"call": "crn"}), "steps[0].do[0].call: no webhook 'crn' is defined; `abacus downstreams list` prints all"),
    (
        doing({"publish": {"type": "tiers/abacus.tier.changed.v1"}}),
        "steps[0].do[0].publish.type: tiers are Abacus' own events; publish one of another source",
    ),
    (
        doing({"publish": {"type": "rides/ride.done", "var": {"cty": "1"}}}),
        "steps[0].do[0].publish.var.cty: the type has no such variable; did you mean city?",
    ),
    (
        doing({"publish": {"type": "rides/ride.done", "var": {"minutes": "var.amount"}}}),
        "steps[0].do[0].publish.var.minutes: var.amount is of type decimal, and integer is wanted",
    ),
    ({"limits": None}, "limits: missing"),
    ({"limits": {}}, "limits.runs: no limit; write limits of runs, points or budget, or unlimited = true"),
    (
        {"limits": {"unlimited": True, "runs": {"member": 1}}},
        "limits.unlimited: true beside runs; leave out the",
    ),
    ({"limits": {"runs": {}}}, "limits.runs: empty; write at least one of overall, day, member, member_day"),
    ({"limits": {"runs": {"weekly": 1}}}, "limits.runs.weekly: unknown"),
    ({"limits": {"runs": {"member": 0}}}, "limits.runs.member: 0 is not between 1 and"),
    ({"limits": {"budget": {"overall": "500"}}}, "limits.budget.cost_of_point: missing"),
    (
        {"limits": {"budget": {"overall": "500", "cost_of_point": "0.01", "program": "OVO"}}},
        "limits.budget.program: 'OVO', but SG awards GRP",
    ),
    (
        {"limits": {"budget": {"overall": "500", "cost_of_point": "0.01", "currency": "IDR"}}},
        "limits.budget.currency: 'IDR', but the card of SG is in SGD",
    ),
    (
        {"limits": {"budget": {"overall": "0.0000001", "cost_of_point": "0.01"}}},
        "limits.budget.overall: '0.0000001'; write an",
    ),
    (
        doing(*[{"tell": {f"e{a}": "x" * 5_000 for a in "nabcdef"}} for _ in range(4)]),
        "document: 140,",
    ),
]


@pytest.mark.parametrize(("changes", "fault"), FAULTS)
def test_each_fault_is_told_with_its_path(changes: dict[str, Any], fault: str) -> None:
    assert [line for line in faults(document(**changes)) if line.startswith(fault)], faults(document(**changes))


def test_all_faults_are_told_at_once() -> None:
    bad = document(
        name="X",
        ends_at="2025-01-01T00:00:00+08:00",
        when={"operator": "and", "conditions": [{**EQ, "lhs": "var.x"}, {**EQ, "operator": "gt"}]},
        limits={},
        **doing({"award": {}}, {"call": "crn"}),
    )
    assert [line.partition(":")[0] for line in faults(bad)] == [
        "name",
        "when.conditions[0].lhs",
        "when.conditions[1].operator",
        "steps[0].do[0].award",
        "steps[0].do[1].call",
        "limits.runs",
        "ends_at",
    ]


DEEDS: list[dict[str, Any]] = [
    AWARD,
    {"award": {"multiple": "1.5"}, "after": "90s"},
    {"award": {"formula": {"eppf": "2", "tier": "1.25"}}},
    {"tell": {"en-SG": "Hi\n{{event.amount}}", "id": "Hai\n{{count}}", "en": "Hi\nHi"}, "at": "17:00", "unless": EQ},
    {"call": "crm", "after": "2h", "if_still": {"operator": "gte", "lhs": "campaign.runs", "rhs": 3}},
    {"publish": {"type": "rides/ride.done", "var": {"shared": True, "city": "Rome", "km": "var.amount"}}},
]
AND = {"operator": "and", "conditions": [{**EQ, "lhs": "var.verical"}, {**EQ, "operator": "is"}]}
SEGMENT = {"operator": "eq", "lhs": "segment.clb", "rhs": True}
OF_BOTH = {"split": {"a": 60, "b": 50}, "goal": 3}
EVERY: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"limits": {"unlimited": True, "runs": {"member": 1}, "budget": {"day": "1", "cost_of_point": "1"}}},
        ["limits.unlimited: true beside runs and budget; leave out the one or the other"],
    ),
    (
        {"limits": {"unlimited": False}},
        ["limits.unlimited: false, and no limit; write limits of runs, points or budget, or unlimited = true"],
    ),
    ({"limits": "unlimited"}, ["limits: 'unlimited' is a string; write a table"]),
    ({**doing(AWARD, variant="a"), **OF_BOTH}, ["split: the shares make 110; they have to make 100"]),
    (
        {**doing(AWARD, variant="zz"), **OF_BOTH},
        [
            "split: the shares make 110; they have to make 100",
            "steps[0].variant: 'zz' is no arm in which something is done; there are a, b",
        ],
    ),
    (
        {"on": ["rides/ride.dne"], "when": SEGMENT, "steps": [{"do": [AWARD]}]},
        [
            "on[0]: rides has no events of the type 'ride.dne'; did you mean ride.done?",
            "when.lhs: no segment 'clb' is defined; did you mean club?",
        ],
    ),
    (
        {"on": ["rides/ride.dne"], "when": AND, "steps": [{"do": [AWARD]}]},
        [
            "on[0]: rides has no events of the type 'ride.dne'; did you mean ride.done?",
            "when.conditions[1].operator: 'is' is not an operator; write one of and, or, not, eq, ne, lt, ",
        ],
    ),
    (
        {"on": None, "when": {**EQ, "lhs": "vertical"}, "steps": [{"do": [AWARD]}]},
        ["on: missing", "when.lhs: 'vertical' is unknown here; the events have no variables; there are "],
    ),
    (
        {"on": ["nope"], "when": {"operator": "gt", "lhs": "counter.rides(7x)", "rhs": 1}, "steps": [{"do": [AWARD]}]},
        ["on[0]: no source has events of the type 'nope'; ", "when.lhs: '7x' is not a range; "],
    ),
    (
        {"on": ["nope"], "when": {**EQ, "rhs": 7}, "steps": [{"do": [AWARD]}]},
        ["on[0]: no source has events of the type"],
    ),
    (
        {"on": ["nope"], "when": {"operator": "gt", "lhs": "counter.rides(7d)", "rhs": 1}, "steps": [{"do": [AWARD]}]},
        ["on[0]: no source has events of the type"],
    ),
]


@pytest.mark.parametrize(("changes", "expected"), EVERY)
def test_every_fault_is_told_and_no_other(changes: dict[str, Any], expected: list[str]) -> None:
    told = faults(document(**changes))
    assert len(told) == len(expected), told
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True)), told


RULES: list[Any] = [
    None,
    EQ,
    {"operator": "in", "lhs": "var.vertical", "rhs": ["mart", "food"]},
    {"operator": "between", "lhs": "var.amount", "rhs": ["1.50", "20"]},
    {"operator": "exists", "lhs": "member.tier"},
    {"operator": "gt", "lhs": "counter.rides(7d)", "rhs": 3},
    {"operator": "not", "conditions": [{"operator": "eq", "lhs": "segment.club", "rhs": True}]},
]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents without faults."""
    deeds = draw(st.lists(st.sampled_from(DEEDS), min_size=1, max_size=3, unique_by=lambda deed: next(iter(deed))))
    count = draw(st.sampled_from([{}, {"at": 3}, {"every": 2}]))
    most = st.integers(1, 10**6)
    scopes = st.dictionaries(st.sampled_from(["overall", "day", "member", "member_day"]), most, min_size=1)
    limits: dict[str, Any] = draw(st.dictionaries(st.sampled_from(["runs", "points"]), scopes))
    if draw(st.booleans()):
        limits["budget"] = {"day": "99.5", "cost_of_point": "0.008"}
    extras = {
        "about": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=50),
        "weekdays": st.lists(st.sampled_from(["mon", "wed", "sun"]), min_size=1),
        "hours": st.just(["06:00-10:00", "22:00-24:00"]),
        "over": st.sampled_from(["day", "week", "month", "7d", "36h"]),
        "split": st.just({"zebra": 20, "control": 30, "a": 50}),
        "priority": st.integers(0, 1000),
        "exclusive": st.just("breakfast"),
        "respects_holdout": st.just(True),  # noqa: FBT003  # as a document has it
        "when": st.sampled_from(RULES),
    }
    chosen = {name: draw(values) for name, values in extras.items() if draw(st.booleans())}
    return document(**chosen, steps=[{**count, "do": deeds}], limits=limits or {"unlimited": True})


def reordered(value: Any) -> Any:
    """As a database may give JSON back: its fields in another order."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in sorted(value, key=lambda name: (len(name), name))}
    return [reordered(each) for each in value] if isinstance(value, list) else value


@pytest.mark.long
@given(documents())
def test_a_document_is_the_same_campaign_again(written: dict[str, Any]) -> None:
    read = parse_campaign(written, publications())
    told = to_document(read)
    assert parse_campaign(json.loads(json.dumps(told)), publications()) == read
    restored = restore_campaign(reordered(told), 3)
    assert restored == read.numbered(3)
    assert to_document(restored) == told
    assert restored.split == read.split
    assert parse_campaign(read_toml(to_toml(read)), publications()) == read
    assert CAMPAIGNS.changes(read, restored) == []


def test_what_was_published_is_restored_whatever_stands_around_it_by_now() -> None:
    written = to_document(
        campaign(ends_at="2026-12-01T00:00:00+08:00", when={**EQ, "lhs": "segment.club", "rhs": True})
    )
    assert restore_campaign(written, 7).label == "third_order@7"


def test_what_only_a_newer_abacus_knows_is_not_restored() -> None:
    with pytest.raises(CampaignFaults, match="luck: unknown"):
        restore_campaign({**to_document(campaign()), "luck": 7}, 1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"priority": 7}, ["priority: added, 7"]),
        ({"when": None}, ['when: removed (was {"operator": "eq", "lhs": "var.vertical", "rhs": "mart"})']),
        ({"ends_at": "2026-12-24T00:00:00+08:00"}, ["ends_at: 2036-12-01T00:00:00+08:00 → 2026-12-24T00:00:00+08:00"]),
        ({"limits": {"runs": {"member": 3}}}, ['limits.runs: {"member": 2} → {"member": 3}', "limits.budget: removed"]),
    ],
)
def test_changes_in_words(changes: dict[str, Any], words: list[str]) -> None:
    told = CAMPAIGNS.changes(campaign(), campaign(**changes))
    assert len(told) == len(words)
    assert all(line.startswith(start) for line, start in zip(told, words, strict=True))


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], [{}], {"a": {"b": []}}, True, 1.5, "\ud800"])
@pytest.mark.parametrize("name", [*document(), "about", "hours", "weekdays", "over", "split", "priority", "exclusive"])
def test_whatever_stands_in_a_field_is_a_fault_and_no_failure(name: str, value: Any) -> None:
    try:
        parse_campaign({**document(), name: value}, publications())
    except CampaignFaults as error:
        assert all(fault.path for fault in error.faults)  # noqa: PT017  # some values are good
