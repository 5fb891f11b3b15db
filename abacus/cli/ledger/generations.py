"""`abacus ledger generations`: which part of the ledger takes rows, and which are closed."""

from typing import Final

from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.shell import pool
from abacus.ledger.generations.listed import Generation, generations_of

_COLUMNS: Final[Columns[Generation]] = {
    "slice": lambda each: each.slice,
    "generation": lambda each: each.number,
    "opened": lambda each: each.opened_at,
    "left": lambda each: each.left_at or "takes rows",
    "closed": lambda each: each.closed_at or "",
    "transfers": lambda each: "" if each.transfers is None else each.transfers,
    "claims": lambda each: "" if each.claims is None else each.claims,
}


async def generations() -> Answer:
    """List the generations of the ledger, by slice. The last one takes rows; the relay opens the next one when it is
    full, and closes the one before: a filter tells of its keys, and its rows are counted.
    """
    async with pool() as opened:
        found = await generations_of(opened)
    return Answer([each._asdict() for each in found], Table.of("Generations", found, _COLUMNS))
