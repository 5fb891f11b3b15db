"""One member's way through a journey, as it would go."""

from collections.abc import Sequence
from typing import Any, Final

from abacus.engage.journeys.decide.armed import Armed
from abacus.engage.journeys.decide.course import MOST_LEGS, Course, Leg
from abacus.engage.journeys.decide.visit import Left, Woken
from abacus.signals.events.types import Event
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import HELLO, NO_ZONE, ORDERS, after, armed, nodes, rule, visitor

_GOLD: Final = rule("member.tier", "eq", "gold")


def _course(of: Armed, *events: Event, **known: Any) -> Sequence[Leg]:
    course = Course(of, visitor(), NOW, events)
    wanted = course.go({})
    while wanted is not None:
        wanted = course.go({wanted.text: {**NO_ZONE, **known}[wanted.text.replace(".", "_")]})
    return course.legs


def _told(legs: Sequence[Leg]) -> list[tuple[Any, str, list[str], str | None]]:
    return [
        (
            leg.at,
            leg.woken.value,
            [each.node.name for each in leg.trail],
            leg.stop.reason if isinstance(leg.stop, Left) else None,
        )
        for leg in legs
    ]


def test_by_the_clock() -> None:
    assert _told(_course(armed())) == [
        (NOW, "entered", ["hello"], None),
        (after(days=2), "due", ["second", "remind", "done"], "through"),
    ]


def test_by_an_event_in_time() -> None:
    legs = _course(armed(), order(2, after=after(days=1) - NOW))
    assert _told(legs)[-1] == (after(days=1), "event", ["second", "thank", "done"], "through")


def test_an_event_that_comes_too_late_changes_nothing() -> None:
    legs = _course(armed(), order(2, after=after(days=3) - NOW))
    assert _told(legs)[-1] == (after(days=2), "due", ["second", "remind", "done"], "through")


def test_an_exit_by_an_event() -> None:
    of = armed(exits=[{"name": "bought", "on": ORDERS, "when": rule("var.vertical", "eq", "mart")}])
    legs = _course(of, order(2, after=after(hours=1) - NOW, vertical="mart"))
    assert _told(legs) == [(NOW, "entered", ["hello"], None), (after(hours=1), "event", [], "bought")]


def test_an_event_whose_rule_does_not_hold_is_passed_over() -> None:
    of = armed(exits=[{"name": "bought", "on": ORDERS, "when": rule("var.vertical", "eq", "mart")}])
    legs = _course(of, order(2, after=after(hours=1) - NOW, vertical="food"))
    assert legs[-1].woken is Woken.EVENT, "the wait is for any order"
    assert [each.node.name for each in legs[-1].trail] == ["second", "thank", "done"]


def test_a_rule_that_does_not_hold_is_given_up_at_its_time() -> None:
    wait = {"wait": {"for": "1d", "rule": {"when": _GOLD, "every": "1m"}}, "next": "done", "otherwise": "hello"}
    of = armed(**nodes("rule", rule=wait, hello={"do": HELLO, "next": "done"}))
    assert _told(_course(of, member_tier="silver")) == [
        (NOW, "entered", [], None),
        (after(days=1), "due", ["rule", "hello", "done"], "through"),
    ]


def test_a_journey_that_goes_round_is_cut_off() -> None:
    loop = {
        "give": {"do": {"award": {"points": 1}}, "next": "pause"},
        "pause": {"wait": {"for": "1d"}, "next": "more"},
        "more": {"branch": [{"when": _GOLD, "next": "give"}], "otherwise": "done"},
    }
    legs = _course(armed(**nodes("give", **loop)), member_tier="gold")
    assert len(legs) == MOST_LEGS
    assert len({each.key for leg in legs for each in leg.effects}) == MOST_LEGS
