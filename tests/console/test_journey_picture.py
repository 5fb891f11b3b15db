"""The picture of a journey, made of its document, whatever faults that has."""

import tomllib
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from abacus.console.decide.journey_picture import Counts, Leads, Marks, compared, picture_of, what_happens

_EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"
_JUNK: Final = st.recursive(
    st.none() | st.integers() | st.sampled_from(["wait", "a", "b", "x"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["wait", "branch", "split", "do", "exit", "rate", "next", "otherwise", "a", "b"]), inside
        )
    ),
    max_leaves=12,
)


def test_a_journey_is_drawn_in_the_order_in_which_members_come() -> None:
    picture = picture_of(_example("welcome"))
    assert [(each.name, each.does) for each in picture.stops] == [
        ("", "by transaction.completed"),
        ("hello", "tell “Welcome”"),
        ("second_order", "waits 2d or an event"),
        ("thank", "award 50 points"),
        ("remind", "tell “Hungry again?”"),
        ("through", "leaves: through"),
    ]
    assert picture.stops[2].leads == [Leads(["event"], "thank"), Leads(["otherwise"], "remind")]
    assert sorted(each.words for each in picture.arrows if each.words) == ["event", "otherwise"]
    assert len(picture.arrows) == 6


def test_what_lies_below_stands_later_in_the_list() -> None:
    nodes = {
        "which": {"branch": [{"next": "done"}], "otherwise": "rest"},
        "done": {"exit": "through"},
        "rest": {"wait": {"for": "1d"}, "next": "done"},
    }
    assert [each.name for each in picture_of({"begin": "which", "nodes": nodes}).stops] == ["", "which", "rest", "done"]


def test_eleven_branches_lie_side_by_side() -> None:
    picture = picture_of(_example("eleven"))
    across = {each.stop.name: each.x for each in picture.boxes}  # too wide: drawn sideways
    (branch,) = (each for each in picture.stops if each.kind == "branch")
    assert len({across[each.to] for each in branch.leads if each.words != ["otherwise"]}) == 1
    assert picture.width < 1_400


def test_several_ways_to_one_node_are_one_arrow() -> None:
    node = {"branch": [{"next": "b"}, {"next": "c"}, {"next": "b"}], "otherwise": "b"}
    picture = picture_of({"begin": "a", "nodes": {"a": node, "b": {"exit": "x"}, "c": {"exit": "y"}}})
    assert picture.stops[1].leads == [Leads(["1", "3", "otherwise"], "b"), Leads(["2"], "c")]


def test_a_way_back_is_told_from_a_way_on() -> None:
    nodes = {"a": {"wait": {"for": "1d"}, "next": "b"}, "b": {"wait": {"for": "1d"}, "next": "a", "otherwise": "b"}}
    assert [each.is_back for each in picture_of({"begin": "a", "nodes": nodes}).arrows] == [False, False, True, True]


def test_what_stands_at_nodes_is_kept() -> None:
    marks = Marks(
        words={"hello": "new"},
        counts={"second_order": Counts(3, 1_234), "hello": Counts(0, 12_000_000)},
        wrong={"thank": ["Fill this in."]},
    )
    picture = picture_of(_example("welcome"), marks)
    by_name = {each.name: each for each in picture.stops}
    assert (by_name["hello"].mark, by_name["hello"].counts) == ("new", Counts(0, 12_000_000))
    assert by_name["thank"].wrong == ["Fill this in."]
    notes = {each.stop.name: each.note for each in picture.boxes if each.note}
    assert notes == {"hello": "new", "second_order": "3 wait, 1.2k passed", "thank": "1 to mend"}


def test_versions_are_compared_node_by_node() -> None:
    before = _example("welcome")
    nodes = dict(before["nodes"])
    del nodes["remind"]
    after = {**before, "nodes": {**nodes, "late": {"exit": "late"}, "thank": {"exit": "thanked"}}}
    assert compared(before, after).words == {"late": "new", "thank": "changed"}
    assert compared(None, after).words == {}


def test_what_happens_is_told_in_few_words() -> None:
    nodes: list[dict[str, Any]] = [
        {"wait": {"at": "10:00", "weekday": "mon"}},
        {"wait": {"until": "context.departs_at", "before": "3h", "rule": {}}},
        {"split": [{}]},
        {"rate": 6000},
        {"do": {"grant": {"offer": "lunch"}}},
        {"do": {"start": {"journey": "lapsing"}}},
        {"do": {"tell": {"id": "Selamat datang\nHalo", "en": "\nWelcome\nHello"}}},
        {"do": {"tell": {"en": 1}}},
        {},
    ]
    assert [what_happens(each) for each in nodes] == [
        "until 10:00 on mon",
        "until 3h before departs_at or a rule holds",
        "1 arm, by chance",
        "6,000 a minute",
        "grant the offer lunch",
        "start lapsing",
        "tell “Welcome”",
        "tell",
        "nothing yet",
    ]


@given(_JUNK, st.dictionaries(st.sampled_from(["a", "b", "wait"]), _JUNK))
def test_any_draft_has_a_picture(begin: Any, nodes: dict[str, Any]) -> None:
    picture = picture_of({"begin": begin, "nodes": nodes, "entry": begin})
    assert {each.name for each in picture.stops} == {"", *nodes}
    assert picture_of({"nodes": begin}).stops


def _example(name: str) -> dict[str, Any]:
    return tomllib.loads((_EXAMPLES / f"journey-{name}.toml").read_text())
