"""What another expiry policy does to the points that members hold, month by month. Pure; `lapses` reads the ledger."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import cost
from abacus.pricing.decide.card import Expiry, RateCard


class LapseChange(NamedTuple):
    """The points that lapse with a month's end, as they stand and under the draft."""

    country: str
    program: str
    month: str
    members: int
    points: int
    draft_members: int
    draft_points: int


class Lapse(NamedTuple):
    """The same, and what it comes to. `outstanding` is how many points more (or, below zero, fewer) would be left at
    the end of the month under the draft, if nothing else happened; `liability` is their expected cost by today's
    assumption.
    """

    country: str
    program: str
    month: str
    members: int
    points: int
    draft_members: int
    draft_points: int
    outstanding: int
    liability: Decimal | None
    currency: str | None
    assumption: str | None


def policy_of(card: RateCard) -> str:
    """The expiry policy in words."""
    months = f"{card.expiry_months} month{'' if card.expiry_months == 1 else 's'}"
    return f"each award {months} after it" if card.expiry is Expiry.LIFETIME else f"{months} after the last activity"


def changes_policy(draft: RateCard, displaced: RateCard | None) -> bool:
    """Whether points of a country would lapse by another policy. A partner's card has no accounts of its own."""
    if displaced is None or draft.scope.startswith("partner:"):
        return False
    return (draft.expiry, draft.expiry_months) != (displaced.expiry, displaced.expiry_months)


def with_liability(rows: Iterable[LapseChange], book: AssumptionBook, today: date, decimals: int) -> list[Lapse]:
    """`rows` in the order of their months, of one country and program after another."""
    lapses: list[Lapse] = []
    outstanding: dict[tuple[str, str], int] = {}
    for row in rows:
        pair = (row.program, row.country)
        outstanding[pair] = outstanding.get(pair, 0) + row.points - row.draft_points
        expected = cost(outstanding[pair], pair, book, today, decimals)
        lapses.append(Lapse(*row, outstanding[pair], expected.amount, expected.currency, expected.assumption))
    return lapses
