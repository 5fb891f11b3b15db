"""Movements that arrive together: the answer to each."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Unavailable
from abacus.intake.partners.award_intake import KeyReused
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.ledger.types.movement import Moved, Movement, Spend
from abacus.ledger.types.port import Status, Unpostable

SILENT: Final = Unavailable("database", "gone")


class Books:
    """Ledger and register in memory: some keys mean awards, some values cannot be stored, and some are a bug."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.batches: list[list[str]] = []
        self.error = error

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        keys = [movement.key for movement in movements]
        self.batches.append(keys)
        if self.error is not None:
            raise self.error
        if any("bad" in key for key in keys):
            raise Unpostable("a value that cannot be stored")
        if any("bug" in key for key in keys):
            raise ZeroDivisionError
        return [Moved(movement, Status.POSTED) for movement in movements]

    async def awards_among(self, keys: Iterable[str]) -> set[str]:
        return {key for key in keys if "award" in key}


def spend(key: str) -> Spend:
    return Spend(key, "bob", "GRP", "SG", "f" * 16, 5, "A coffee", "ann", "person:ann")


async def told(books: Books, *keys: str) -> list[object]:
    """The outcome of each movement: its status, or the error that its caller gets."""
    batcher = MovementBatcher(books, books)
    moved = await asyncio.gather(*(batcher.move(spend(key)) for key in keys), return_exceptions=True)
    await batcher.close()
    return [each if isinstance(each, BaseException) else each.status for each in moved]


async def test_movements_that_come_together_are_one_transaction() -> None:
    books = Books()
    keys = [f"api:acme:{number}" for number in range(100)]
    assert await told(books, *keys) == [Status.POSTED] * 100
    assert books.batches == [keys]


async def test_more_than_two_hundred_are_several() -> None:
    books = Books()
    assert await told(books, *(f"ops:{number}" for number in range(450))) == [Status.POSTED] * 450
    assert [len(batch) for batch in books.batches] == [200, 200, 50]


async def test_the_movements_of_one_caller_stay_together_in_their_order() -> None:
    books = Books()
    batcher = MovementBatcher(books, books)
    mine, theirs = [f"ops:{number}" for number in range(150)], [f"api:acme:{number}" for number in range(100)]
    first, second, alone = await asyncio.gather(
        batcher.move_all([*map(spend, mine)]), batcher.move_all([*map(spend, theirs)]), batcher.move(spend("ops:last"))
    )
    assert [each.movement.key for each in first if isinstance(each, Moved)] == mine
    assert [each.movement.key for each in second if isinstance(each, Moved)] == theirs
    assert alone.movement.key == "ops:last"
    assert books.batches == [mine, [*theirs, "ops:last"]]


async def test_each_movement_of_a_caller_has_a_fate_of_its_own() -> None:
    books = Books()
    batcher = MovementBatcher(books, books)
    fates = await batcher.move_all([*map(spend, ("ops:1", "api:acme:award", "ops:bad", "ops:2"))])
    assert [type(each) for each in fates] == [Moved, KeyReused, Unpostable, Moved]
    assert await batcher.move_all([]) == ()


async def test_the_key_of_an_award_moves_nothing() -> None:
    books = Books()
    one, other, third = await told(books, "api:acme:1", "api:acme:award", "ops:award")
    assert (one, third) == (Status.POSTED, Status.POSTED), "only partners' keys mean awards"
    assert isinstance(other, KeyReused)
    assert books.batches == [["api:acme:1", "ops:award"]]


async def test_nothing_is_begun_for_keys_of_awards_alone() -> None:
    books = Books()
    (error,) = await told(books, "api:acme:award")
    assert isinstance(error, KeyReused)
    assert books.batches == []


async def test_a_value_that_cannot_be_stored_fails_alone() -> None:
    books = Books()
    one, bad, other = await told(books, "ops:1", "ops:bad", "ops:2")
    assert (one, other) == (Status.POSTED, Status.POSTED)
    assert isinstance(bad, Unpostable)
    assert books.batches == [["ops:1", "ops:bad", "ops:2"], ["ops:1"], ["ops:bad"], ["ops:2"]]


async def test_a_bug_beside_a_bad_value_fails_alone_too() -> None:
    with capture_logs() as logs:
        one, bad, bug = await told(Books(), "ops:1", "ops:bad", "ops:bug")
    assert one is Status.POSTED
    assert isinstance(bad, Unpostable)
    assert isinstance(bug, Unavailable)
    assert [(line["event"], line["movements"]) for line in logs] == [("points could not be moved", 1)]


@pytest.mark.parametrize(
    ("error", "expected", "logged"),
    [
        (SILENT, "database unavailable: gone", 0),
        (ZeroDivisionError(), "ledger unavailable: ZeroDivisionError", 1),
    ],
)
async def test_when_nobody_knows_what_became_of_them_each_is_told(error: Exception, expected: str, logged: int) -> None:
    with capture_logs() as logs:
        answers = await told(Books(error=error), "ops:1", "ops:2")
    assert [str(each) for each in answers] == [expected] * 2
    assert all(isinstance(each, Unavailable) for each in answers)
    assert len(logs) == logged
