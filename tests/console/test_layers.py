"""The layers of a drawing: nothing covers anything, and lines go down but for those that close a loop."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from abacus.console.decide.layers import BOX, Layers, in_layers

_NAMES = [f"n{number}" for number in range(12)]
_GRAPHS = st.dictionaries(st.sampled_from(_NAMES), st.lists(st.sampled_from(_NAMES), max_size=4), max_size=12)


@given(_GRAPHS, st.booleans())
def test_no_node_covers_another_and_all_is_within_the_drawing(leads: dict[str, list[str]], sideways: bool) -> None:  # noqa: FBT001  # drawn
    found = in_layers(leads, sideways=sideways)
    assert found.places.keys() == leads.keys()
    for one, other in combinations(found.places.values(), 2):
        assert abs(one.x - other.x) >= BOX[0] or abs(one.y - other.y) >= BOX[1]
    for x, y in found.places.values():
        assert BOX[0] / 2 <= x <= found.width - BOX[0] / 2
        assert BOX[1] / 2 <= y <= found.height - BOX[1] / 2
    for points in found.lines.values():
        assert all(0 <= each.x <= found.width and 0 <= each.y <= found.height for each in points)


@given(_GRAPHS)
def test_each_way_has_a_line_that_goes_down_or_closes_a_loop(leads: dict[str, list[str]]) -> None:
    found = in_layers(leads)
    assert found.lines.keys() == {(name, to) for name, others in leads.items() for to in others if to in leads}
    for (begin, end), points in found.lines.items():
        down = [one.y <= other.y for one, other in pairwise(points)]
        if begin != end:
            assert all(down) if (begin, end) not in found.back else not any(down)
            assert _touches(found, begin, points[0].x, points[0].y)
            assert _touches(found, end, points[-1].x, points[-1].y)


@given(_GRAPHS)
def test_no_line_goes_through_a_node(leads: dict[str, list[str]]) -> None:
    found = in_layers(leads)
    for (begin, end), points in found.lines.items():
        for one, other in pairwise(points):
            if one.x == other.x:
                for name, (x, y) in found.places.items():
                    crosses = abs(x - one.x) < BOX[0] / 2 and min(one.y, other.y) < y < max(one.y, other.y)
                    assert not crosses or name in {begin, end}


def test_a_graph_has_one_drawing() -> None:
    leads = {"a": ["b", "c", "d"], "b": ["d"], "c": ["d", "a"], "d": []}
    assert in_layers(leads) == in_layers(leads)
    assert in_layers(leads).back == {("c", "a")}
    assert in_layers({}).places == {}


def test_sideways_layers_go_from_left_to_right() -> None:
    down, right = (in_layers({"a": ["b", "c"], "b": ["c"], "c": ["a"]}, sideways=each) for each in (False, True))
    assert [at.y for at in down.places.values()] == sorted(at.y for at in down.places.values())
    assert [at.x for at in right.places.values()] == sorted(at.x for at in right.places.values())
    assert right.back == down.back == {("c", "a")}


def _touches(found: Layers, name: str, x: float, y: float) -> bool:
    at = found.places[name]
    return abs(x - at.x) <= BOX[0] / 2 and abs(abs(y - at.y) - BOX[1] / 2) < 0.001


def test_the_longest_lines_of_a_large_graph_are_straight() -> None:
    """To lead each of five hundred around all nodes would take seconds."""
    names = [f"n{number}" for number in range(500)]
    leads = {name: [after, "end"] for name, after in pairwise(names)} | {names[-1]: ["end"], "end": []}
    found = in_layers(leads)
    assert len(found.lines["n0", "end"]) < len(found.lines["n490", "end"])
