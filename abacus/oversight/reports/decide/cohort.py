"""The points of each month, by what became of them: spent, expired, taken back, or still there. Pure; `cohorts`
reads it.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from abacus.oversight.reports.decide.by import By, by_program_at_least, grouped, part_of

OWED: Final = "owed"
_LEFT: Final = "outstanding"


class Cohort(NamedTuple):
    """The points that came in a month, and where they went.

    earned + exchanged_in + returned + added = spent + exchanged_out + expired + reversed + adjusted + outstanding.
    `returned` points came back from a spend or an exchange, `added` points from an adjustment upwards. The month `owed`
    holds the debits that no points are left for; there `outstanding` is negative.
    """

    program: str
    country: str
    tier: str
    partner: str
    source: str
    month: str
    earned: int
    exchanged_in: int
    returned: int
    added: int
    spent: int
    exchanged_out: int
    expired: int
    reversed: int
    adjusted: int
    outstanding: int


class Piece(NamedTuple):
    """Points that came one way and went another; an empty `came` is a debt, an empty `went` is still there."""

    program: str
    country: str
    tier: str
    partner: str
    source: str
    month: str
    came: str
    went: str
    points: int


def arranged(pieces: Iterable[Piece], by: Collection[By]) -> list[Cohort]:
    """The pieces as a table: a row for each part of the books and month, the debts at the end of each part."""
    rows: list[Cohort] = []
    for part, of_part in grouped(pieces, lambda piece: by_program_at_least(part_of(piece), by)).items():
        for month in sorted({piece.month for piece in of_part}):
            sums = dict.fromkeys(Cohort._fields[len(part) + 1 :], 0)
            for piece in of_part:
                if piece.month == month:
                    for column, points in _columns(piece):
                        sums[column] += points
            rows.append(Cohort(*part, month, *sums.values()))
    return rows


def _columns(piece: Piece) -> list[tuple[str, int]]:
    if not piece.came:
        return [(piece.went, piece.points), (_LEFT, -piece.points)]
    return [(piece.came, piece.points), (piece.went or _LEFT, piece.points)]
