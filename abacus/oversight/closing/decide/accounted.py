"""Whether an account that `abacus reconcile --out` filed covers a month and comes out. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import orjson

from abacus.oversight.closing.decide.obstacles import Obstacle

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
