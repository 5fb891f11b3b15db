"""The books of a month: opening points, movements, closing points, and whether they tie to the ledger. Pure;
`movements` reads them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.ledger.types.kinds import KINDS, Columns, TransferKind
from abacus.oversight.reports.decide.by import By, Part, by_program_at_least, grouped, part_of
from abacus.oversight.reports.decide.liability import ProgramBalance

OF_KIND: Final[Mapping[TransferKind, Columns]] = {
    kind: row.columns for kind, row in KINDS.items() if row.columns is not None
}

# The sign with which the points of transfers stand in each column of the rollforward: opening + issued - spent …
SIGNS: Final[Mapping[str, int]] = {columns.moved: columns.sign for columns in OF_KIND.values()}


class Movement(NamedTuple):
    """opening + issued + exchanged_in - spent - exchanged_out - expired - reversed + adjusted = closing.

    `reversed` is the points that awards lost when they were taken back, less the points that spends and exchanges gave
    back when they were taken back. So it is negative in a month in which more was given back.
    """

    program: str
    country: str
    tier: str
    partner: str
    source: str
    opening: int
    issued: int
    exchanged_in: int
    spent: int
    exchanged_out: int
    expired: int
    reversed: int
    adjusted: int
    closing: int


_SUMMED: Final = tuple(name for name in Movement._fields if name not in Part._fields)


class Tie(NamedTuple):
    """The books of a program in a country against its accounts: `closing` by the transfers, the balances that the
    last transfers recorded, the accounts' balances less the postings since, and the number of accounts that differ
    from their transfers. `pending` of the closing points had not vested.
    """

    program: str
    country: str
    closing: int
    recorded: int
    accounts: int
    apart: int
    pending: int
    ties: str


class Rollforward(NamedTuple):
    """A month's books and their proof."""

    movements: list[Movement]
    ties: list[Tie]

    @property
    def tied(self) -> bool:
        return all(tie.ties == "yes" for tie in self.ties)


def summed(movements: Iterable[Movement], by: Collection[By]) -> list[Movement]:
    """The movements, summed over the countries if the report is not parted by country."""
    groups = grouped(movements, lambda row: by_program_at_least(part_of(row), by))
    return [
        Movement(**part._asdict(), **{name: sum(getattr(row, name) for row in rows) for name in _SUMMED})
        for part, rows in groups.items()
    ]


def tie(movements: Iterable[Movement], balances: Sequence[ProgramBalance]) -> list[Tie]:
    """The tie of every program and country that has movements or accounts."""
    closing: dict[tuple[str, str], int] = {}
    opened: dict[tuple[str, str], int] = {}
    for row in movements:
        at = row.program, row.country
        closing[at] = closing.get(at, 0) + row.closing
        moved = sum(sign * getattr(row, column) for column, sign in SIGNS.items())
        opened[at] = opened.get(at, 0) + row.opening + moved
    by_account = {(each.program, each.country): each for each in balances}
    nothing = ProgramBalance("", "", 0, 0, 0, 0, 0, 0, 0, 0)
    ties: list[Tie] = []
    for at in sorted(closing.keys() | by_account.keys()):
        held, ends = by_account.get(at, nothing), closing.get(at, 0)
        agrees = held.ties and ends == held.recorded == opened.get(at, 0)
        ties.append(Tie(*at, ends, held.recorded, held.accounts, held.apart, held.pending, "yes" if agrees else "NO"))
    return ties
