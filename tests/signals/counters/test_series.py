"""The record of the writers: what a process that is behind the others cannot write into it."""

from datetime import UTC, datetime

import asyncpg
import pytest

from abacus.platform.postgres import Pool
from abacus.signals.counters.series import SeriesBook, Tally, WriterStart, writer_of
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

WRITER = writer_of(1, 3)
D, E = (1, 1), (2, 1)


@pytest.fixture
async def book(pool: Pool) -> SeriesBook:
    """A writer that has counted up to the offset 99, and the definition D from 10 on."""
    book = SeriesBook(pool, FixedClock(datetime(2026, 5, 1, tzinfo=UTC)))
    await book.begin({WRITER: 9})
    place = await book.start(WRITER, {D: 10})
    assert await book.move({WRITER: place._replace(tally=Tally(99, seen=90, counted=90))}) == {WRITER}
    return book


async def where(book: SeriesBook) -> WriterStart:
    return (await book.places([WRITER]))[WRITER]


async def test_a_topic_has_a_series_for_each_of_its_identities(book: SeriesBook) -> None:
    series = [await book.live(topic, identity) for topic, identity in (("a", "1"), ("a", "2"), ("b", "1"), ("a", "1"))]
    assert len(set(series)) == 3
    assert series[0] == series[3]


async def test_what_is_recorded_first_stays(book: SeriesBook) -> None:
    await book.begin({WRITER: 500})
    again = await book.start(WRITER, {D: 700})
    assert again == await where(book) == WriterStart(Tally(99, seen=90, counted=90), {D: 10})


@pytest.mark.parametrize(("first", "recorded"), [(99, False), (100, True), (101, True)])
async def test_a_definition_cannot_begin_where_some_process_has_passed(
    book: SeriesBook,
    first: int,
    recorded: bool,  # noqa: FBT001  # a column of a table
) -> None:
    """By a process that lost the partition and does not know it: nobody would count what lies between."""
    place = await book.start(WRITER, {E: first})
    assert place.starts == ({D: 10, E: first} if recorded else {D: 10})
    assert place.tally.upto == 99


# The offset up to which the tally is to move, whether the process knows where E begins, and whether it moves.
MOVES = [(100, True, True), (99, True, False), (98, True, False), (100, False, False), (500, False, False)]


@pytest.mark.parametrize(("upto", "knows", "moves"), MOVES)
async def test_a_tally_moves_forwards_and_not_past_an_unknown_beginning(
    book: SeriesBook,
    upto: int,
    knows: bool,  # noqa: FBT001  # a column of the table
    moves: bool,  # noqa: FBT001  # another
) -> None:
    before = await where(book)
    there = await book.start(WRITER, {E: 100})
    place = (there if knows else before)._replace(tally=Tally(upto, seen=91, counted=91))
    assert await book.move({WRITER: place}) == ({WRITER} if moves else set())
    assert (await where(book)).tally == (place.tally if moves else before.tally)


async def test_only_those_that_can_move_move(book: SeriesBook) -> None:
    other = writer_of(1, 4)
    await book.begin({other: -1})
    places = {WRITER: WriterStart(Tally(120), {}), other: WriterStart(Tally(5), {})}
    assert await book.move(places) == {other}


@pytest.mark.parametrize("table", ["counter_series", "counter_start"])
@pytest.mark.parametrize("statement", ["delete from {}", "truncate {}", "update {} set definition_id = 0"])
async def test_the_application_changes_no_series_and_no_beginning(pool: Pool, table: str, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(statement.format(table))


async def test_the_application_deletes_no_tally(pool: Pool) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute("delete from counter_tally")
