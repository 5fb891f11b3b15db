"""Rings meet where a look at each pair of edges says."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.signals.places.decide.contacts import contacts_of
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.ring import in_one_piece

pytestmark = pytest.mark.once

CORNERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=9)


def turn(one: Point, other: Point, at: Point) -> float:
    return (other[0] - one[0]) * (at[1] - one[1]) - (other[1] - one[1]) * (at[0] - one[0])


def meet(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two edges have a common point."""
    (a, b), (c, d) = one, other
    sides = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)]
    if sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0:
        return True
    return any(
        side == 0 and all(min(p, q) <= r <= max(p, q) for p, q, r in zip(*ends, at, strict=True))
        for side, ends, at in zip(sides, ((a, b), (a, b), (c, d), (c, d)), (c, d, a, b), strict=True)
    )


def fold(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two neighbours have more than their corner in common."""
    (before, corner), (_, after) = one, other
    back = (before[0] - corner[0]) * (after[0] - corner[0]) + (before[1] - corner[1]) * (after[1] - corner[1])
    return turn(before, corner, after) == 0 and back > 0


@settings(max_examples=60)
@given(CORNERS)
def test_a_ring_meets_itself_where_two_of_its_edges_do(corners: list[tuple[int, int]]) -> None:
    ring = in_one_piece([(float(x), float(y)) for x, y in (*corners, corners[0])])
    edges = list(pairwise(ring))
    if len(edges) < 3:
        return
    last = len(edges) - 1
    expected = any(
        fold(edges[one], edges[other])
        if other == one + 1
        else fold(edges[other], edges[one])
        if (one, other) == (0, last)
        else meet(edges[one], edges[other])
        for one, other in combinations(range(len(edges)), 2)
    )
    assert bool(list(contacts_of([ring]))) == expected


@settings(max_examples=40)
@given(CORNERS, CORNERS)
def test_two_rings_meet_where_an_edge_of_each_does(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    rings = [in_one_piece([(float(x), float(y)) for x, y in (*each, each[0])]) for each in (first, second)]
    expected = any(meet(one, other) for one in pairwise(rings[0]) for other in pairwise(rings[1]))
    assert any(each.one != each.other for each in contacts_of(rings)) == expected
