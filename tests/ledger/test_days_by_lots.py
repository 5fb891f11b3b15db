"""The day of an account whose lots lapse each after its own day, on every ledger there is."""

from datetime import date
from typing import Final

import pytest

from tests.ledger.moves import (
    BOB,
    NOVEMBER,
    Batch,
    adjust,
    capture,
    earn,
    fates,
    hold,
    reverse,
    spend,
)
from tests.life.ledgers import Living

NEXT_YEAR: Final = date(2027, 3, 31)
NEXT_SUMMER: Final = date(2027, 6, 30)
LAST: Final = NOVEMBER.last_day

# Batches on an account whose lots lapse each after its own day, and the day after which the first of them lapses.
DAYS: Final[dict[str, tuple[list[Batch], date | None]]] = {
    "the first lot's": ([[earn(5, "k", expires_on=NEXT_YEAR, lifetime=True)]], NOVEMBER.last_day),
    "the next lot's, when the first is spent": (
        [[earn(5, "k", expires_on=NEXT_YEAR, lifetime=True)], [spend(100)]],
        NEXT_YEAR,
    ),
    "the next lot's, when the first has lapsed": (
        [[earn(5, "k", expires_on=NEXT_YEAR, lifetime=True)], NOVEMBER],
        NEXT_YEAR,
    ),
    "none when nothing is left": ([[spend(100)]], None),
    "what is held keeps its day": ([[hold(60)], NOVEMBER], NOVEMBER.last_day),
    "what is held rests on the oldest": (
        [[earn(50, "k", expires_on=NEXT_YEAR, lifetime=True)], [hold(100)], NOVEMBER, [capture()]],
        NEXT_YEAR,
    ),
    "what is given back keeps its lot's": ([[spend(100)], [reverse("api:acme:1", expires_on=NEXT_YEAR)]], LAST),
    "what is given back keeps that of the last of its lots": (
        [
            [earn(5, "k", expires_on=NEXT_YEAR, lifetime=True)],
            [spend(101)],
            [spend(4, "api:acme:2")],
            [reverse("api:acme:1", expires_on=NEXT_SUMMER)],
        ],
        NEXT_YEAR,
    ),
    "what was spent by activity keeps that of its lot": (
        [
            [spend(100)],
            [adjust(1, expires_on=NEXT_YEAR, lifetime=False)],
            [spend(1, "api:acme:2")],
            [adjust(1, "adjust:2", expires_on=NEXT_YEAR, lifetime=True)],
            [spend(1, "api:acme:3")],
            [reverse("api:acme:2", expires_on=NEXT_SUMMER)],
        ],
        LAST,
    ),
    "what was spent by activity keeps that of its lot, also where the account's was later": (
        [
            [spend(100)],
            [adjust(1, expires_on=NEXT_YEAR, lifetime=False)],
            [earn(10, "k", expires_on=NEXT_YEAR)],
            [spend(1, "api:acme:2")],
            [earn(10, "l", expires_on=NEXT_SUMMER, lifetime=True)],
            [reverse("api:acme:2", expires_on=NEXT_SUMMER)],
        ],
        LAST,
    ),
    "what was spent by activity keeps that of the last of its lots": (
        [
            [spend(100)],
            [adjust(1, expires_on=NEXT_YEAR, lifetime=False)],
            [earn(10, "k", expires_on=NEXT_YEAR)],
            [spend(11, "api:acme:2")],
            [earn(10, "l", expires_on=NEXT_SUMMER, lifetime=True)],
            [reverse("api:acme:2", expires_on=NEXT_SUMMER)],
        ],
        NEXT_YEAR,
    ),
}


@pytest.mark.parametrize("name", DAYS)
async def test_the_day_of_an_account_by_lots(ledger: Living, name: str) -> None:
    batches, day = DAYS[name]
    await ledger.post([earn(100, lifetime=True)])
    for batch in batches:
        await fates(ledger, batch)
    account = await ledger.account(BOB)
    assert account is not None
    assert account.expires_on == day
