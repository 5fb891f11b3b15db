"""Journeys that would start each other without end."""

from dataclasses import replace
from typing import Any, Final

import pytest

from abacus.engage.journeys.decide.cycles import Cycle, cycle_through
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do, Start
from tests.engage.campaigns.offers import AROUND as BESIDE
from tests.engage.journeys.examples import journey, nodes

_POINTS: Final = {"award": {"points": 5}}
_EARNED: Final = {"on": ["points/abacus.points.earned.v1"]}


def _starting(name: str, *others: str) -> Journey:
    """A journey that starts others, which are not there yet."""
    of = journey(name=name, **nodes("n0", **{f"n{place}": _node(place, others) for place in range(len(others) or 1)}))
    for place, other in enumerate(others):
        node = of.nodes[f"n{place}"]
        assert isinstance(node.part, Do)
        part = Do(Start(other, {}, {}), node.part.next)
        of = replace(of, nodes={**of.nodes, node.name: node._replace(part=part)})
    return of


def _node(place: int, others: tuple[str, ...]) -> dict[str, Any]:
    return {"do": _POINTS, "next": f"n{place + 1}" if place + 1 < len(others) else "done"}


@pytest.mark.parametrize(
    ("others", "cycle"),
    [
        ([], None),
        ([("two", [])], None),
        ([("two", ["one"])], Cycle("n0", ["one", "two", "one"])),
        ([("two", ["three"]), ("three", ["one"])], Cycle("n0", ["one", "two", "three", "one"])),
        ([("two", ["three"]), ("three", ["two"])], None),
    ],
    ids=["alone", "one way", "back", "over a third", "a circle beside it"],
)
def test_journeys_that_start_each_other(others: list[tuple[str, list[str]]], cycle: Cycle | None) -> None:
    beside = [_starting(name, *started) for name, started in others]
    assert cycle_through(_starting("one", "two"), beside, {}) == cycle


def test_the_node_is_named_by_which_it_begins() -> None:
    assert cycle_through(_starting("one", "three", "two"), [_starting("two", "one"), _starting("three")], {}) == Cycle(
        "n1", ["one", "two", "one"]
    )


def test_points_let_members_enter_again() -> None:
    of = journey(entry=_EARNED, **nodes("n0", n0={"do": _POINTS, "next": "done"}))
    assert cycle_through(of, [], BESIDE.rewards) == Cycle("n0", ["welcome", "welcome"])
