"""Doing many things together; and when that fails, by halves, so that the one at fault fails alone."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.ledger.types.posting import Unpostable

MOST_FAILURES: Final = 3  # more of them have one cause, and it is in none of these things

Thing = TypeVar("Thing")
Result = TypeVar("Result")


async def isolate_failures(
    things: Sequence[Thing],
    work: Callable[[Sequence[Thing]], Awaitable[list[Result]]],
    refused: Callable[[Thing, Unpostable], Result],
    failures: list[Exception] | None,
) -> list[Result]:
    """The results in order; `refused` makes one for a thing whose values the store does not take.

    What a thing alone fails with otherwise, in a way that nobody foresaw, is added to `failures` and has no result.
    Where that is None, or many have failed, it is raised.
    """
    try:
        return await work(things)
    except Unavailable:
        raise
    except Exception as error:
        if isinstance(error, Unpostable):
            if len(things) == 1:
                return [refused(things[0], error)]
        elif failures is None or len(failures) == MOST_FAILURES:
            raise
        elif len(things) == 1:
            failures.append(error)
            return []
    middle = len(things) // 2
    first = await isolate_failures(things[:middle], work, refused, failures)
    return first + await isolate_failures(things[middle:], work, refused, failures)
