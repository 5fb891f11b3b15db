"""What an audit finds wrong with campaigns."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.signals.events.decide.source import parse_source
from tests.reliability.chaos.campaigned import HOUSE, NAMES, Campaigned, orders_in
from tests.reliability.chaos.campaigns_judged import Action, Told, Transfer, faults_of_campaigns
from tests.support.campaigns import publications


def body(number: int, **changes: Any) -> bytes:
    order = {
        "type": "transaction.completed",
        "source": "rides",
        "transaction_id": f"T-{number}",
        "member_id": "bob",
        "country": "SG",
        "occurred_at": "2026-10-31T12:00:00+08:00",
    }
    return json.dumps({name: value for name, value in {**order, **changes}.items() if value is not None}).encode()


ORDERS: Final = orders_in(body(number) for number in range(1, 5))
KEYS: Final = {name: [f"campaign:{name}:{order}" for order in ORDERS] for name in NAMES}
AWARDED: Final = {"budgeted": (KEYS["budgeted"][:2], 5), "twice": (KEYS["twice"][:2], 3), "later": (KEYS["later"], 2)}
TOLD_KEY: Final = f"{KEYS['told'][2]}:1"
RIGHT: Final = Told(
    claims=KEYS,
    sums={
        ("budgeted", "done"): (2, 10),
        ("budgeted", "refused:budget overall"): (2, 0),
        ("twice", "done"): (2, 6),
        ("twice", "refused:runs member"): (2, 0),
        ("later", "done"): (4, 8),
        ("told", "counted"): (3, 0),
        ("told", "done"): (1, 0),
    },
    actions=[
        *(
            Action(name, "bob", f"{key}:1", "award", done=True, refused=False)
            for name, (keys, _) in AWARDED.items()
            for key in keys
        ),
        Action("told", "bob", TOLD_KEY, "tell", done=True, refused=False),
        Action("told", "bob", TOLD_KEY, "publish", done=True, refused=False),
    ],
    transfers=[Transfer(f"{key}:1", "bob", points) for keys, points in AWARDED.values() for key in keys],
    notices=[f"{TOLD_KEY}/0"],
    published=[f"{TOLD_KEY}/1", f"{TOLD_KEY}/1"],
    exhausted=frozenset({"budgeted"}),
)
LATER: Final = RIGHT.transfers[-1]
OF_LATER: Final = RIGHT.actions[-3]


def test_orders_are_those_of_members_in_the_country_that_can_be_read() -> None:
    bodies = [
        body(1),
        body(1, member_id="eve", amount="9"),
        body(2, country="ID"),
        body(3, type="transaction.refunded"),
        body(4, member_id=None),
        body(5, occurred_at="2019-05-01T12:00:00+08:00"),
        body(6, occurred_at="2099-05-01T12:00:00+08:00"),
        b"\xff garbage",
    ]
    assert orders_in(bodies) == {"transactions:transaction.completed:rides:T-1": frozenset({"bob", "eve"})}


def test_the_campaigns_can_be_published() -> None:
    house, around = parse_source({**HOUSE}).published(1), publications()
    around = replace(around, sources={**around.sources, house.name: house})
    names = [parse_campaign(document, around).name for document in Campaigned(ORDERS).documents()]
    assert names == [*NAMES]


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"claims": {**KEYS, "later": KEYS["later"][:3]}}, ["later was not decided", "later: 3 orders are decided"]),
        ({"sums": {**RIGHT.sums, ("told", "done"): (2, 0)}}, ["told: 4 orders are decided, and 5 have an outcome"]),
        (
            {"transfers": RIGHT.transfers[:-1]},
            ["awards of campaigns that are not posted", "awards of later", "points of later, by its sums"],
        ),
        (
            {"transfers": [*RIGHT.transfers, LATER]},
            ["posted beyond what campaigns decided", "awards of later", "points of later, by its sums"],
        ),
        (
            {"transfers": [*RIGHT.transfers, Transfer(f"{KEYS['budgeted'][2]}:1", "bob", 5)]},
            [
                "posted beyond what campaigns decided",
                "points of budgeted: 15, not 10",
                "points of budgeted, by its sums",
            ],
        ),
        (
            {"transfers": [*RIGHT.transfers, Transfer(f"{KEYS['twice'][2]}:1", "bob", 3)]},
            [
                "posted beyond what campaigns decided",
                "points of twice, by its sums",
                "limit of a member: bob: 3 awards",
            ],
        ),
        (
            {"actions": [each._replace(done=each is not OF_LATER) for each in RIGHT.actions]},
            ["neither done nor refused", "posted beyond what campaigns decided"],
        ),
        ({"exhausted": frozenset()}, ["the budget is used up, and its campaign is not exhausted"]),
        ({"notices": []}, ["messages that are not entered"]),
        ({"notices": [*RIGHT.notices, *RIGHT.notices]}, ["messages that nobody decided"]),
        ({"published": []}, ["events that are not published"]),
        ({"published": [*RIGHT.published, "x"]}, ["events that nobody decided: x"]),
        (
            {"actions": RIGHT.actions[:-2], "notices": [], "published": []},
            ["not told: bob"],
        ),
    ],
)
def test_what_does_not_hold(changes: Mapping[str, Any], faults: list[str]) -> None:
    found = list(faults_of_campaigns(Campaigned(ORDERS), RIGHT._replace(**changes)))
    assert [begin for begin in faults if not any(each.startswith(begin) for each in found)] == []
    assert len(found) == len(faults), found
