"""Does many things together; after a failure, does each half by itself, until the thing at fault fails alone."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from abacus.core.errors import LineStopped, Unavailable
from abacus.ledger.types.port import Unpostable

MOST_FAILURES: Final = 3  # more of them have one cause, and it is in none of these things

Thing = TypeVar("Thing")
Result = TypeVar("Result")


async def isolate_failures(
    things: Sequence[Thing],
    work: Callable[[Sequence[Thing]], Awaitable[list[Result]]],
    refused: Callable[[Thing, Unpostable], Result],
    failures: list[Exception] | None,
) -> list[Result]:
    """The results in order; `refused` makes the result of a thing whose values the store does not take.

    Any other failure of a single thing is added to `failures`, and that thing has no result. If `failures` is None, or
    holds many already, the failure is raised.
    """
    try:
        return await work(things)
    except (Unavailable, LineStopped):
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
