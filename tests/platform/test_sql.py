"""Statements with named parameters: the text and values for the driver, and the mistakes that are refused."""

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import pytest

from abacus.platform.postgres import Pool
from abacus.platform.sql import (
    Narrowed,
    Statement,
    arrays,
    columns,
    narrowed_to,
    parameters,
    row_of,
    text_arrays,
    text_columns,
    unnested,
)


class Point(NamedTuple):
    x: int
    y: int


class Word(StrEnum):
    YES = "yes"


class Everything(NamedTuple):
    """A column of each type."""

    id: UUID
    is_one: bool
    number: int
    text: str
    word: Word
    raw: bytes
    at: datetime
    day: date
    document: bytes
    nothing: int | None = None


class Plain(NamedTuple):
    """A column of each type that has a text."""

    text: str
    number: int | None
    is_one: bool
    day: date | None


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


def test_parameters_of_a_row_type() -> None:
    insert = Statement(f"insert into point ({columns(Point)}) values ({parameters(Point)})")
    assert insert(**Point(1, 2)._asdict()) == ("insert into point (x, y) values ($1, $2)", 1, 2)


def test_rows_as_arrays() -> None:
    assert unnested(Point) == "unnest(:x::bigint[], :y::bigint[]) as u (x, y)"
    assert unnested(Point, y="int") == "unnest(:x::bigint[], :y::int[]) as u (x, y)"
    assert arrays(Point, [Point(1, 2), Point(3, 4)]) == {"x": [1, 3], "y": [2, 4]}
    assert arrays(Point, []) == {"x": [], "y": []}


def test_rows_as_texts() -> None:
    assert text_arrays(Point, "y") == "string_to_array(:y::text, e'\\x1f', '')::bigint[]"
    assert text_columns(Point, [Point(1, 2), Point(3, 4)]) == {"x": "1\x1f3", "y": "2\x1f4"}
    assert text_columns(Point, [Point(1, 2), Point(3, 4)], "y") == {"y": "2\x1f4"}
    with pytest.raises(ValueError, match=r"the control character U\+001F"):
        text_columns(Plain, [Plain("a\x1fb", None, True, None)])  # noqa: FBT003  # a column's value


def test_a_row_out_of_a_wider_record() -> None:
    assert row_of(Point, {"z": 3, "y": 2, "x": 1}) == Point(1, 2)


def test_a_type_that_nobody_knows_has_to_be_said() -> None:
    class Odd(NamedTuple):
        points: float

    with pytest.raises(TypeError, match="say its type for Postgres"):
        unnested(Odd)
    assert unnested(Odd, points="float8") == "unnest(:points::float8[]) as u (points)"


async def test_postgres_gives_the_rows_back(pool: Pool) -> None:
    now, day, id_ = datetime(2026, 1, 2, 3, tzinfo=UTC), date(2026, 1, 2), UUID(int=7)
    rows = [
        Everything(id_, True, 2**40, "a", Word.YES, b"\0", now, day, b'{"a": 1}'),  # noqa: FBT003  # a column's value
        Everything(UUID(int=8), False, -1, "", Word.YES, b"", now, day, b"[]", 5),  # noqa: FBT003  # the same
    ]
    select = Statement(f"select {columns(Everything)} from {unnested(Everything, document='json')} order by id")
    assert [Everything(*row) for row in await pool.fetch(*select(**arrays(Everything, rows)))] == rows
    assert await pool.fetch(*select(**arrays(Everything, []))) == []


async def test_postgres_gives_the_texts_back(pool: Pool) -> None:
    rows = [Plain("a", 2**40, True, date(2026, 1, 2)), Plain("b", None, False, None)]  # noqa: FBT003  # a column's value
    select = Statement(f"select * from unnest({text_arrays(Plain)}) as u ({columns(Plain)})")
    assert [Plain(*row) for row in await pool.fetch(*select(**text_columns(Plain, rows)))] == rows
    assert await pool.fetch(*select(**text_columns(Plain, []))) == []


PEOPLE = Narrowed("select name from person {where} limit :most", role="role = :role", at="at = :at and id > :id")
ADMINS = Narrowed("select name from person where is_admin {and} limit :most", country="country = :country")


@pytest.mark.parametrize(
    ("list_", "narrowed", "expected"),
    [
        (PEOPLE, {}, ("select name from person  limit $1", 9)),
        (PEOPLE, {"role": "viewer"}, ("select name from person where role = $1 limit $2", "viewer", 9)),
        (
            PEOPLE,
            {"role": None, "at": 5, "id": 7},
            ("select name from person where at = $1 and id > $2 limit $3", 5, 7, 9),
        ),
        (
            PEOPLE,
            {"at": 5, "id": 7, "role": "viewer"},
            ("select name from person where role = $1 and at = $2 and id > $3 limit $4", "viewer", 5, 7, 9),
        ),
        (ADMINS, {"country": None}, ("select name from person where is_admin  limit $1", 9)),
        (ADMINS, {"country": "SG"}, ("select name from person where is_admin and country = $1 limit $2", "SG", 9)),
    ],
)
def test_a_list_is_narrowed_by_what_is_given(
    list_: Narrowed, narrowed: dict[str, object], expected: tuple[object, ...]
) -> None:
    assert list_(narrowed, most=9) == expected


@pytest.mark.parametrize(
    ("countries", "expected"),
    [
        (None, {"countries": None}),
        ((), {"countries": ()}),
        (["SG"], {"country": "SG"}),
        (["SG", "VN"], {"countries": ["SG", "VN"]}),
    ],
)
def test_one_country_is_looked_for_by_itself(countries: list[str] | None, expected: dict[str, object]) -> None:
    assert narrowed_to(countries) == expected
