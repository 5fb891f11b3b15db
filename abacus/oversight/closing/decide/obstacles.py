"""What stands in the way of closing a month, and which of it a person may accept. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson

# Obstacles that a person may accept by name, because a late answer to them is posted in a later month and so stands in
# that month's books. Books that do not tie, or a ledger that does not verify, are never accepted.
ACCEPTABLE: Final = ("exchange", "expiry", "quarantine", "reconcile")


class Obstacle(NamedTuple):
    """One reason not to close, by its name, and its remedy in words."""

    name: str
    said: str

    def __str__(self) -> str:
        return f"{self.name}: {self.said}"


def left(obstacles: Iterable[Obstacle], accepted: Collection[str]) -> list[Obstacle]:
    """The obstacles that were not accepted, or cannot be."""
    return [each for each in obstacles if each.name not in ACCEPTABLE or each.name not in accepted]


def covers(snapshot: str, last: Sequence[int | None]) -> bool:
    """Whether a seal of this snapshot has the last transfer of each slice, told by its stamp; None where there is none.

    A snapshot has a text for each slice, and the seal has all transfers with a stamp below the first number of it.
    """
    seen = [int(each.partition(":")[0]) for each in snapshot.split()]
    return len(seen) == len(last) and all(
        stamp is None or stamp < below for stamp, below in zip(last, seen, strict=True)
    )


_NAME: Final = "reconcile"


def reconciled(document: bytes | None, since: datetime, until: datetime) -> list[Obstacle]:
    """The obstacles in the account of a month between these moments; None is an account that was not made."""
    if document is None:
        said = f"not shown; run `abacus reconcile --from {since.isoformat()} --to {until.isoformat()} --out FILE`"
        return [Obstacle(_NAME, f"{said}, then close with --reconciled FILE")]
    try:
        account = orjson.loads(document)
        begin, end = (datetime.fromisoformat(account[name]) for name in ("from", "to"))
        comes_out, whole = account["comes_out"] is True, account["whole"] is True
        return [Obstacle(_NAME, said) for said in _faults(since, until, begin, end, comes_out=comes_out, whole=whole)]
    except (ValueError, KeyError, TypeError):
        return [Obstacle(_NAME, "the file is no account of `abacus reconcile --out`")]


def _faults(
    since: datetime, until: datetime, begin: datetime, end: datetime, *, comes_out: bool, whole: bool
) -> Iterator[str]:
    if begin > since or end < until:
        yield f"the account is of {begin.isoformat()} to {end.isoformat()}, which is not all of the month"
    if not comes_out:
        yield "the account does not come out"
    if not whole:
        yield "the account is not whole: Kafka had forgotten messages"
