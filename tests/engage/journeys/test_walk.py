"""A member goes from one wait to the next."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.journeys.decide.armed import Armed
from abacus.engage.journeys.decide.node import Do, Node, Split
from abacus.engage.journeys.decide.split import arm_of
from abacus.engage.journeys.decide.visit import Left, Place, Seen, Waiting, Why, Woken
from abacus.engage.journeys.decide.walk import Walk
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import (
    HELLO,
    ORDERS,
    after,
    armed,
    done,
    journey,
    names,
    nodes,
    rule,
    visitor,
    walked,
)
from tests.support.paths import GOLDEN

_GOLD: Final = rule("member.tier", "eq", "gold")
_RICH: Final = rule("member.balance", "gte", 1000)
_POINTS: Final = {"award": {"points": 50}}


def _number(of: Armed, name: str) -> int:
    return of.journey.nodes[name].number


def test_from_the_entry_to_the_first_wait() -> None:
    welcome = armed()
    walk = walked(welcome)
    assert names(walk) == ["hello"]
    assert done(walk) == [f"journey:welcome:1:bob:{_number(welcome, 'hello')}"]
    place = Place(_number(welcome, "second"), 0, NOW)
    assert walk.stop == Waiting(place, after(days=2), Why.EVENT, after(days=2), "Asia/Singapore")


@pytest.mark.parametrize(
    ("woken", "trail", "deed"),
    [
        (Woken.EVENT, ["second event", "thank", "done"], "thank"),
        (Woken.DUE, ["second otherwise", "remind", "done"], "remind"),
    ],
)
def test_an_event_or_a_time_whichever_is_first(woken: Woken, trail: list[str], deed: str) -> None:
    welcome = armed()
    walk = walked(welcome, at=Place(_number(welcome, "second"), 0, NOW), woken=woken, now=after(days=2))
    assert names(walk) == trail
    assert done(walk) == [f"journey:welcome:1:bob:{_number(welcome, deed)}"]
    assert isinstance(walk.stop, Left)
    assert walk.stop.reason == "through"


def test_a_visit_and_not_a_version_is_in_the_key() -> None:
    first, second = armed(), armed(version=2)
    assert done(walked(first, visitor(visit=3))) == done(walked(second, visitor(visit=3)))
    assert done(walked(first, visitor(visit=3))) != done(walked(first, visitor(visit=4)))


class TestBranch:
    _ARMED = armed(
        **nodes(
            "tier",
            tier={
                "branch": [{"when": _GOLD, "next": "golden"}, {"when": _RICH, "next": "wealthy"}],
                "otherwise": "done",
            },
            golden={"do": _POINTS, "next": "done"},
            wealthy={"do": _POINTS, "next": "done"},
        )
    )

    @pytest.mark.parametrize(
        ("known", "trail"),
        [
            ({"member.tier": "gold"}, ["tier 1", "golden", "done"]),
            ({"member.tier": "silver", "member.balance": 1000}, ["tier 2", "wealthy", "done"]),
            ({"member.tier": "silver", "member.balance": 999}, ["tier otherwise", "done"]),
        ],
        ids=["the balance is not asked for", "the second", "none"],
    )
    def test_the_first_rule_that_holds(self, known: dict[str, Any], trail: list[str]) -> None:
        assert names(walked(self._ARMED, known=known)) == trail

    def test_each_decision_is_told_with_its_value(self) -> None:
        walk = walked(self._ARMED, known={"member.tier": "silver", "member.balance": 1200})
        node = self._ARMED.journey.nodes["tier"]
        seen = (Seen("member.tier eq gold", "silver", holds=False), Seen("member.balance gte 1000", "1200", holds=True))
        assert (walk.trail[0][:3], walk.trail[0].seen) == ((node, 0, "2"), seen)

    @pytest.mark.parametrize("tier", ["gold", "silver"])
    @pytest.mark.parametrize("balance", [None, 999, 1000])
    def test_a_walk_that_tells_nothing_goes_the_same_way(self, tier: str, balance: int | None) -> None:
        """Where all values are there, and where they are looked up one by one."""
        known = {"member.tier": tier, "member.balance": balance}
        told = names(walked(self._ARMED, known=known))
        for first in ({}, known):
            walk = Walk(self._ARMED, visitor(), NOW, tells=False)
            wanted = walk.go(first)
            while wanted is not None:
                wanted = walk.go({wanted.text: known[wanted.text]})
            assert names(walk) == told


class TestTheContext:
    def test_rules_read_it_without_a_look_up(self) -> None:
        of = armed(
            entry={"api": True},
            context={"seats": "integer"},
            **nodes(
                "many",
                many={"branch": [{"when": rule("context.seats", "gt", 2), "next": "group"}], "otherwise": "done"},
                group={"do": _POINTS, "next": "done"},
            ),
        )
        assert names(walked(of, visitor(context={"seats": 3}))) == ["many 1", "group", "done"]
        assert names(walked(of, visitor(context={"seats": 2}))) == ["many otherwise", "done"]

    @pytest.mark.parametrize(("flies", "through"), [(timedelta(days=5), False), (timedelta(days=2), True)])
    def test_a_moment_that_has_passed_is_no_wait(self, flies: timedelta, through: bool) -> None:  # noqa: FBT001  # a row
        of = armed(
            entry={"api": True},
            context={"flies_at": "time"},
            **nodes("near", near={"wait": {"until": "context.flies_at", "before": "3d"}, "next": "done"}),
        )
        stop = walked(of, visitor(context={"flies_at": NOW + flies})).stop
        assert isinstance(stop, Left) is through
        assert through or (isinstance(stop, Waiting) and stop.due == after(days=2))


class TestQuietHours:
    """The night of Singapore begins at 13:00 UTC."""

    _OF = nodes("hello", hello={"do": HELLO, "next": "done"})
    _WAITS = nodes("pause", pause={"wait": {"for": "9h"}, "next": "hello"}, hello={"do": HELLO, "next": "done"})
    _POINTS = nodes("give", give={"do": _POINTS, "next": "done"})
    _NIGHT: Final = after(hours=9)

    def test_a_message_waits_for_their_end(self) -> None:
        of = armed(quiet_hours="21:00-08:00", **self._OF)
        walk = walked(of, now=self._NIGHT)
        assert walk.stop == Waiting(
            Place(_number(of, "hello"), 0, self._NIGHT), after(hours=20), Why.QUIET, after(hours=20), "Asia/Singapore"
        )
        assert not walk.effects
        sent = walked(of, at=Place(_number(of, "hello"), 0, self._NIGHT), woken=Woken.DUE, now=after(hours=20))
        assert names(sent) == ["hello", "done"]
        assert len(sent.effects) == 1

    def test_they_are_those_of_the_members_zone(self) -> None:
        of = armed(quiet_hours="21:00-08:00", **self._OF)
        assert len(walked(of, now=self._NIGHT, known={"zone": "Europe/London"}).effects) == 1

    def test_a_wait_before_a_message_ends_when_that_may_be_sent(self) -> None:
        stop = walked(armed(quiet_hours="21:00-08:00", **self._WAITS)).stop
        assert isinstance(stop, Waiting)
        assert (stop.due, stop.why) == (after(hours=20), Why.TIME)

    def test_points_are_given_at_night(self) -> None:
        assert len(walked(armed(quiet_hours="21:00-08:00", **self._POINTS), now=self._NIGHT).effects) == 1


class TestTheZone:
    _CASES: Final = json.loads((GOLDEN / "waits.json").read_text("utf-8"))["cases"]

    @pytest.mark.parametrize("case", _CASES, ids=lambda case: case["name"])
    def test_the_members_own_stands_for_the_countrys(self, case: Mapping[str, Any]) -> None:
        """The known answers, each in the zone of a member of another zone's country; and in the zone of the country."""
        quiet = case["quiet_hours"] and "-".join(case["quiet_hours"])
        hello = {"do": HELLO, "next": "done"}
        match case["wait"]:
            case {"hours": 0}:  # no wait at all
                written = nodes("hello", hello=hello)
            case {"hours": number}:
                written = nodes("pause", pause={"wait": {"for": f"{number}h"}, "next": "hello"}, hello=hello)
            case {"days": number}:
                written = nodes("pause", pause={"wait": {"for": f"{number}d"}, "next": "hello"}, hello=hello)
            case wait:
                written = nodes("pause", pause={"wait": wait, "next": "hello"}, hello=hello)
        entered = datetime.fromisoformat(case["entered"])
        for timezone, own in (("America/Santiago", case["zone"]), (case["zone"], None)):
            of = armed(timezone=timezone, quiet_hours=quiet, **written)
            stop = walked(of, now=entered, known={"zone": own}).stop
            assert isinstance(stop, Waiting)
            assert (stop.due and stop.due.isoformat()) == case["due"]

    @pytest.mark.parametrize(
        ("wait", "zone"),
        [
            ({"at": "10:00"}, "Europe/London"),
            ({"at": "10:00", "zone": "country"}, "Asia/Singapore"),
            ({"at": "10:00", "zone": "Asia/Kathmandu"}, "Asia/Kathmandu"),
            ({"for": "3d"}, "Europe/London"),
            ({"for": "3h"}, None),
        ],
    )
    def test_is_told_where_its_clock_says_when(self, wait: Mapping[str, str], zone: str | None) -> None:
        of = armed(**nodes("pause", pause={"wait": wait, "next": "done"}))
        stop = walked(of, known={"zone": "Europe/London"}).stop
        assert isinstance(stop, Waiting)
        assert stop.zone == zone

    @pytest.mark.parametrize("wait", [{"for": "3h"}, {"at": "10:00", "zone": "country"}])
    def test_is_looked_up_for_a_wait_that_needs_it_only(self, wait: Mapping[str, str]) -> None:
        walk = Walk(armed(**nodes("pause", pause={"wait": wait, "next": "done"})), visitor(), NOW)
        assert walk.go({}) is None


class TestARule:
    _OF = armed(
        **nodes(
            "until",
            until={
                "wait": {"for": "1d", "rule": {"when": _GOLD, "every": "15m"}},
                "next": "give",
                "otherwise": "done",
            },
            give={"do": _POINTS, "next": "done"},
        )
    )

    def _stop(self, tier: str, *, at: Place | None = None, now: Any = NOW) -> Any:
        return walked(self._OF, at=at, woken=Woken.DUE, now=now, known={"member.tier": tier})

    def test_is_looked_at_at_a_pace(self) -> None:
        place = Place(_number(self._OF, "until"), 0, NOW)
        assert self._stop("silver").stop == Waiting(place, after(minutes=15), Why.RULE, after(days=1), "Asia/Singapore")
        late = self._stop("silver", at=place, now=after(hours=23, minutes=50)).stop
        assert late == Waiting(place, after(days=1), Why.RULE, after(days=1), "Asia/Singapore")

    def test_leads_on_once_it_holds(self) -> None:
        place = Place(_number(self._OF, "until"), 0, NOW)
        assert names(self._stop("gold", at=place, now=after(minutes=15))) == ["until holds", "give", "done"]
        assert names(self._stop("gold")) == ["until holds", "give", "done"]

    def test_is_given_up_at_its_time(self) -> None:
        place = Place(_number(self._OF, "until"), 0, NOW)
        assert names(self._stop("silver", at=place, now=after(days=1))) == ["until otherwise", "done"]


class TestALoop:
    _OF = armed(
        **nodes(
            "give",
            give={"do": _POINTS, "next": "pause"},
            pause={"wait": {"for": "1d"}, "next": "more"},
            more={"branch": [{"when": _GOLD, "next": "give"}], "otherwise": "done"},
        )
    )

    def test_each_turn_has_keys_of_its_own(self) -> None:
        place, now, keys = None, NOW, []
        for _ in range(4):
            walk = walked(self._OF, at=place, woken=Woken.DUE, now=now, known={"member.tier": "gold"})
            keys += done(walk)
            assert isinstance(walk.stop, Waiting)
            place, now = walk.stop.place, walk.stop.due or now
        number = _number(self._OF, "give")
        assert keys == [f"journey:welcome:1:bob:{number}{turn}" for turn in ("", ".1", ".2", ".3")]


def test_a_rate_hands_out_turns() -> None:
    of = armed(**nodes("gate", gate={"rate": 100, "next": "give"}, give={"do": _POINTS, "next": "done"}))
    place = Place(_number(of, "gate"), 0, NOW)
    assert walked(of).stop == Waiting(place, None, Why.RATE, None)
    assert names(walked(of, at=place, woken=Woken.DUE)) == ["gate", "give", "done"]


def test_an_exit_by_a_rule_is_looked_at_first() -> None:
    of = armed(exits=[{"name": "bought", "when": _RICH}])
    walk = walked(of, known={"member.balance": 1000})
    assert walk.stop == Left("bought", None, (Seen("member.balance gte 1000", "1000", holds=True),))
    assert (walk.trail, walk.effects) == ([], [])
    assert names(walked(of, known={"member.balance": 1})) == ["hello"]


def test_what_is_too_late_is_not_done_and_the_member_goes_on() -> None:
    walk = walked(armed(), skips=True)
    assert names(walk) == ["hello not done"]
    assert not walk.effects
    assert isinstance(walk.stop, Waiting)


def test_a_split_is_the_same_for_ever_and_the_arm_goes_with_the_deeds() -> None:
    of = armed(
        **nodes(
            "arms",
            arms={
                "split": [
                    {"arm": "control", "share": 20, "next": "done"},
                    {"arm": "a", "share": 80, "next": "give"},
                ]
            },
            give={"do": _POINTS, "next": "done"},
        )
    )
    arms = {}
    for number in range(500):
        walk = walked(of, visitor(f"m-{number}"))
        arms[f"m-{number}"] = walk.arm
        assert [each.arm for each in walk.effects] == ([] if walk.arm == "control" else ["a"])
    assert arms == {member: walked(of, visitor(member, visit=2)).arm for member in arms}
    assert 70 < list(arms.values()).count("control") < 130  # a fifth, by the hash


def test_a_branch_asks_about_the_event_of_the_entry() -> None:
    of = armed(
        **nodes(
            "food",
            food={"branch": [{"when": rule("var.vertical", "eq", "food"), "next": "give"}], "otherwise": "done"},
            give={"do": _POINTS, "next": "done"},
        )
    )
    assert names(walked(of, visitor(facts=order(1, vertical="food")))) == ["food 1", "give", "done"]
    assert names(walked(of, visitor(facts=order(1, vertical="rides")))) == ["food otherwise", "done"]


@given(st.lists(st.integers(1, 97), min_size=1, max_size=4), st.text(min_size=1, max_size=20), st.integers(1, 500))
def test_every_member_has_an_arm(shares: list[int], member_id: str, node: int) -> None:
    shares = [share for place, share in enumerate(shares) if sum(shares[: place + 1]) < 100]  # the whole
    split = (
        journey(
            **nodes(
                "arms",
                arms={
                    "split": [
                        {"arm": f"a{place}", "share": share, "next": "done"}
                        for place, share in enumerate([*shares, 100 - sum(shares)])
                    ]
                    if shares
                    else [{"arm": "a", "share": 50, "next": "done"}, {"arm": "b", "share": 50, "next": "done"}]
                },
            )
        )
        .nodes["arms"]
        .part
    )
    assert isinstance(split, Split)
    assert arm_of(split, "welcome", node, member_id) in split.arms


def test_numbers_stay_with_names() -> None:
    first = journey()
    more = {**{name: node.number for name, node in first.nodes.items()}, "gone": 9}
    second = journey(nodes={**{name: each for name, each in _written().items() if name != "remind"}}).numbered(2, more)
    assert second.nodes["hello"].number == first.nodes["hello"].number
    assert second.nodes["again"].number == 10  # behind every number that there was


def _written() -> dict[str, Any]:
    return {
        "hello": {"do": HELLO, "next": "second"},
        "second": {"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "again"},
        "again": {"do": _POINTS, "next": "done"},
        "done": {"exit": "through"},
    }


def test_a_node_knows_what_it_is() -> None:
    assert journey().by_number[journey().nodes["hello"].number] == journey().nodes["hello"]
    assert isinstance(journey().nodes["hello"], Node)
    assert isinstance(journey().nodes["hello"].part, Do)
