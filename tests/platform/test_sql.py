"""Statements with named parameters: what the driver is given, and what is refused."""

from typing import NamedTuple

import pytest

from abacus.platform.sql import Statement, columns


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("text", "values", "given"),
    [
        ("select 1", {}, ("select 1",)),
        ("select :a, :b", {"b": 2, "a": 1}, ("select $1, $2", 1, 2)),
        ("select :a, :b, :a", {"a": 1, "b": 2}, ("select $1, $2, $1", 1, 2)),
        ("select :a::text::xid8", {"a": "7"}, ("select $1::text::xid8", "7")),
        ("select x || ':' || y", {}, ("select x || ':' || y",)),
        ("select :ab, :a", {"a": 1, "ab": 2}, ("select $1, $2", 2, 1)),
    ],
)
def test_names_become_numbers(text: str, values: dict[str, object], given: tuple[object, ...]) -> None:
    assert Statement(text)(**values) == given


@pytest.mark.parametrize("values", [{}, {"a": 1, "b": 2}, {"b": 1}])
def test_each_parameter_has_one_value(values: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"the statement takes \['a'\]"):
        Statement("select :a")(**values)


def test_many_rows() -> None:
    assert Statement("insert into t values (:y, :x)").rows([{"x": 1, "y": 2}, {"x": 3, "y": 4}]) == (
        "insert into t values ($1, $2)",
        [(2, 1), (4, 3)],
    )


def test_columns_of_a_row_type() -> None:
    assert columns(Point) == "x, y"
    assert columns(Point, "p") == "p.x, p.y"
