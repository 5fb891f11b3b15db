"""Checks that what an option narrows to is there at all: a country, a program, a day. All raise `Absent`."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Final

from abacus.core.clock import latest_day
from abacus.core.errors import Refused, absent
from abacus.core.members import fault_of_member
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import RateCard
from abacus.pricing.store.cards import CardStore

_COUNTRY: Final = re.compile(r"[A-Z]{2}")


def check_member(member: str) -> None:
    """Whether it can be the id of a member. Raises `Refused`."""
    if (fault := fault_of_member(member)) is not None:
        raise Refused(fault)


def check_country(country: str | None) -> None:
    """Whether it can be one: two capitals."""
    if country is not None and _COUNTRY.fullmatch(country) is None:
        raise absent("country", country, "write two capitals, such as SG")


async def check_priced(opened: Pool, country: str | None, program: str | None = None) -> None:
    """Whether the country has a rate card, and some card issues points of the program."""
    check_country(country)
    if country is not None or program is not None:
        check_cards([each.card for each in await CardStore(opened).all()], country, program)


def check_cards(cards: Iterable[RateCard], country: str | None, program: str | None = None) -> None:
    """The same, by these cards."""
    known = list(cards)
    if country is not None and country not in {card.scope for card in known}:
        raise absent("rate card of", country, "`abacus rates list` prints all scopes")
    if program is not None and program not in {card.program for card in known}:
        raise absent("program", program, "`abacus rates list` prints the program of each card")


def checked_reason(reason: str) -> str:
    """Raises `Refused` where nothing is said."""
    if not reason.strip():
        raise Refused("--reason: say why")
    return reason.strip()


def check_begun(day: date, now: datetime) -> None:
    """Whether the day has begun anywhere."""
    if day > latest_day(now):
        raise absent("day in the books", day, "it is to come")
