"""Whether an award from the queue can be ours: a sender may write anything into a message. Pure."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Final

from abacus.core.clock import CLOCKS_DIFFER_BY, is_to_come
from abacus.core.errors import Reason, SetAside
from abacus.core.ids import (
    CAMPAIGNS,
    EVENTS,
    EXCHANGES,
    JOURNEYS,
    PARTNERS,
    REDEMPTIONS,
    REFUNDS,
    TRANSACTIONS,
    rollback_key,
)
from abacus.core.sources import OFFER_PREFIX, PARTNER_PREFIX, REWARD_PREFIX, STREAM
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Reversal
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import MOST_EXPIRY_MONTHS

# Reasons that a card may take away which was published a moment ago.
PASSING: Final = frozenset({Reason.UNKNOWN_COUNTRY, Reason.UNKNOWN_PROGRAM})

_AWARDED: Final = (
    TRANSACTIONS,
    EVENTS,
    PARTNERS,
    CAMPAIGNS,
    REDEMPTIONS,
    JOURNEYS,
    EXCHANGES,
)  # how the keys of awards begin that come by the queue
_ANYWHERE: Final = (PARTNER_PREFIX, REWARD_PREFIX)  # sources of points of any program in any country
_LONGEST_GOOD: Final = 31 * (MOST_EXPIRY_MONTHS + 1)  # days


class Issued:
    """Which points the cards of a book issue, and where; in every version, as late transactions have old cards."""

    def __init__(self, book: CardBook) -> None:
        self.book = book
        countries = book.countries()
        programs = {version.card.program for scope in book.scopes() for version in book.versions(scope)}
        self._countries = frozenset(countries)
        # A partner may have a card of another scope, and a reward may be points of another program: both may give any
        # points in any country.
        self._by_anyone = frozenset((program, country) for program in programs for country in countries)
        self._by_country = frozenset(
            (version.card.program, country) for country in countries for version in book.versions(country)
        )

    def faults_of_awards(self, awards: Iterable[Award], now: datetime) -> dict[int, SetAside]:
        """The places of the awards that are none of ours, with the reasons. Their sources agree with their keys."""
        latest, known = now + CLOCKS_DIFFER_BY, self._by_country
        faults: dict[int, SetAside] = {}
        for place, award in enumerate(awards):
            # Nearly every award passes these; only the rest is worth the words.
            if (
                (award.program, award.country) in known
                and award.occurred_at <= latest
                and 0 < award.expires_on.toordinal() - award.occurred_at.toordinal() <= _LONGEST_GOOD
                and award.key.startswith(_AWARDED)
            ):
                continue
            fault = _fault_of_award(award, self, now)
            if fault is not None:
                faults[place] = fault
        return faults

    def fault_of_reversal(self, reversal: Reversal, now: datetime) -> SetAside | None:
        """Why the reversal is neither a refund of a transaction nor a redemption that is rolled back."""
        if not (_is_refund(reversal) or _is_rollback(reversal)):
            detail = f"{reversal.key!r} of {reversal.reverses!r} is neither a refund of the stream nor a rollback"
            return SetAside(Reason.UNKNOWN_SOURCE, detail)
        # The country is the refund's own; the points are the transaction's, which a partner's card may have given.
        return _fault_of_time(reversal.occurred_at, reversal.expires_on, now) or self.fault(
            reversal.program, reversal.country, anywhere=True
        )

    def fault(self, program: str, country: str, *, anywhere: bool) -> SetAside | None:
        """Why these points cannot be given there."""
        if (program, country) in (self._by_anyone if anywhere else self._by_country):
            return None
        if country not in self._countries:
            return SetAside(Reason.UNKNOWN_COUNTRY, f"no rate card has the scope {country!r}")
        return SetAside(Reason.UNKNOWN_PROGRAM, f"no rate card issues {program} in {country}")


def _is_refund(reversal: Reversal) -> bool:
    return reversal.key.startswith(REFUNDS) and reversal.reverses.startswith(TRANSACTIONS) and reversal.source == STREAM


def _is_rollback(reversal: Reversal) -> bool:
    return (
        reversal.reverses.startswith(REDEMPTIONS)
        and reversal.key == rollback_key(reversal.reverses)
        and reversal.source.startswith(OFFER_PREFIX)
    )


def no_campaign(name: str) -> SetAside:
    """The fault of an award by a campaign that there is not, nor was."""
    return SetAside(Reason.UNKNOWN_SOURCE, f"no campaign is called {name!r}")


def _fault_of_award(award: Award, issued: Issued, now: datetime) -> SetAside | None:
    if not award.key.startswith(_AWARDED):
        return SetAside(Reason.UNKNOWN_SOURCE, f"no award by the queue has a key like {award.key!r}")
    return _fault_of_time(award.occurred_at, award.expires_on, now) or issued.fault(
        award.program, award.country, anywhere=award.source.startswith(_ANYWHERE)
    )


def _fault_of_time(occurred_at: datetime, expires_on: date, now: datetime) -> SetAside | None:
    if is_to_come(occurred_at, now):
        detail = f"{occurred_at.isoformat()} is still to come; here it is {now.isoformat()}"
        return SetAside(Reason.IN_THE_FUTURE, detail)
    if not 0 < expires_on.toordinal() - occurred_at.toordinal() <= _LONGEST_GOOD:
        return SetAside(Reason.INVALID, f"expires_on: {expires_on}, for what happened at {occurred_at.isoformat()}")
    return None
