"""Work for many at once that fails is done in halves, so that who is at fault holds up no others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

MOST_FAILURES: Final = 40  # of parts: more of them are at fault than a few

Thing = TypeVar("Thing")


async def in_halves(
    things: Sequence[Thing],
    work: Callable[[Sequence[Thing]], Awaitable[None]],
    *,
    concerns_all: Callable[[Exception], bool],
) -> list[tuple[Thing, str]]:
    """The things for which the work cannot be done, each with the fault, in their order. The work is done for all that
    it is given, or for none. Raises what concerns all of them.
    """
    parts, faults, failures = [things] if things else [], list[tuple[Thing, str]](), 0
    while parts:
        part = parts.pop()
        try:
            await work(part)
        except Exception as fault:
            if concerns_all(fault):
                raise
            failures += 1
            if len(part) == 1:
                faults.append((part[0], f"{type(fault).__name__}: {fault}"))
            elif failures > MOST_FAILURES:  # its text may name one of them, and is kept with the others too
                faults += [(each, f"{type(fault).__name__}, of {len(part)} at once") for each in part]
            else:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
    return faults
