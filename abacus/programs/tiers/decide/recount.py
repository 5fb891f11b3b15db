"""The tier of an account worked out a second time, from its transfers, for verifying. Pure.

Points count by the card of their day. Where such a card was published after the points were posted, nobody knows by
which card they were counted: then the tallies are not compared, only whether tier and changes agree with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple, Self

from abacus.core.errors import SetAside
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import BASE_TIER
from abacus.programs.tiers.decide.heard import Heard, heard_from
from abacus.programs.tiers.decide.policy import NO_TIER, Period, Tally, carrying, counted, period_of
from abacus.programs.tiers.decide.tier_change import AccountTier, Calendars, Change, Reason

# A tier that was set before changes were recorded: the first change may begin with it, or there is none yet.
_BY_HAND: Final = frozenset({Reason.OVERRIDE, Reason.OVERRIDE_CLEARED})

_CARDS_ARE_READ: Final = timedelta(minutes=5)  # a keeper knows a new card by then


class Recorded(NamedTuple):
    """What is on record of an account's tier. `override` is what an operator set."""

    account: AccountTier | None
    tallies: Mapping[Period, Tally]
    changes: Sequence[Change]
    override: str | None


NOTHING: Final = Recorded(None, {}, (), None)


class Published(NamedTuple):
    """The cards by which points count, and when each country's cards were published, with their beginnings."""

    calendars: Calendars
    published: Mapping[str, Sequence[tuple[datetime, datetime]]]

    def is_certain(self, heard: Heard, posted_at: datetime, country: str) -> bool:
        """Whether no card that may count these points was published when they were, or later."""
        if heard.occurred_at > posted_at:
            return False
        known_at = posted_at - _CARDS_ARE_READ
        return all(
            published_at <= known_at or effective_from > heard.occurred_at
            for published_at, effective_from in self.published.get(country, ())
        )


class Recount:
    """Counts an account's transfers, in their order, as far as the account is counted."""

    def __init__(self, recorded: Recorded, cards: Published) -> None:
        self._recorded = recorded
        self._cards = cards
        self._last_seq = recorded.account.last_seq if recorded.account is not None else 0
        self._reached = 0  # the last transfer that counts
        self._home: str | None = None
        self._tallies: dict[Period, Tally] = {}
        self._passed: set[tuple[date, date, int]] = set()  # what each period came to on its way
        self._is_certain = True

    @classmethod
    def of_nothing(cls, cards: Published) -> Self:
        return cls(NOTHING, cards)

    def count(self, transfer: Transfer) -> None:
        if transfer.seq > self._last_seq:
            return
        try:
            heard = heard_from(transfer)
        except SetAside:
            self._is_certain = False
            return
        if heard is None:
            return
        self._reached = heard.seq
        country = self._home or heard.country
        self._is_certain = self._is_certain and self._cards.is_certain(heard, transfer.posted_at, country)
        card = self._cards.calendars.card(heard, country)
        if card is None:
            return
        self._home = country
        if card.tier_policy is None:
            return
        period = period_of(heard.occurred_at, card.zone, card.tier_policy.period_months)
        tally = counted(self._tallies.get(period, Tally(period, 0, NO_TIER)), heard.points, card.tier_policy)
        self._tallies[period] = tally
        self._passed.add((period.starts_on, period.ends_on, tally.earned))

    def faults(self) -> Iterator[str]:
        account = self._recorded.account
        if account is None:
            if self._recorded.tallies or self._recorded.changes:
                yield "it has a tier or changes of it, and no record of how far it is counted"
            return
        if self._is_certain:
            yield from self._faults_of_tallies(account)
        yield from self._faults_of_tier(account)
        yield from self._faults_of_changes(account)

    def _faults_of_tallies(self, account: AccountTier) -> Iterator[str]:
        if account.last_seq != self._reached:
            yield f"its tier is counted up to #{account.last_seq}, no points that count; the last are #{self._reached}"
        if account.country != self._home:
            yield f"its tier goes by {account.country}, its transfers by {self._home}"
        for period in sorted(self._tallies.keys() | self._recorded.tallies.keys()):
            recorded, now = self._recorded.tallies.get(period), self._tallies.get(period)
            if recorded != now:
                yield f"for its tier it has {_told(recorded)} in {_named(period)}, its transfers come to {_told(now)}"

    def _faults_of_tier(self, account: AccountTier) -> Iterator[str]:
        through = self._cards.calendars.through(account.country)
        if account.until is not None and account.until <= through:
            return  # the end of the period has not come to it
        carrier = carrying(self._recorded.tallies.values(), through)
        tier, until = (carrier.reached.tier, carrier.period.until) if carrier else (BASE_TIER, None)
        if (account.tier, account.until) != (tier, until):
            yield f"its tier is {account.tier} until {account.until}, its points make {tier} until {until}"

    def _faults_of_changes(self, account: AccountTier) -> Iterator[str]:
        number, tier = 0, BASE_TIER
        for change in self._recorded.changes:
            if change.n != number + 1:
                yield f"change {change.n} of its tier follows change {number}"
            elif change.from_tier != tier and not (number == 0 and change.reason in _BY_HAND):
                yield f"change {change.n} of its tier is from {change.from_tier}, it was {tier}"
            number, tier = change.n, change.to_tier
            came_to = (change.starts_on, change.ends_on, change.earned)
            if self._is_certain and change.earned is not None and came_to not in self._passed:
                yield f"change {change.n} of its tier has {change.earned} points, to which its period never came"
        if number != account.changes:
            yield f"its tier has changed {account.changes} times, and {number} changes are there"
        elif tier != (self._recorded.override or account.tier) and (number or self._recorded.override is None):
            yield f"its tier is {self._recorded.override or account.tier}, the last change of it is to {tier}"


def _named(period: Period) -> str:
    return f"{period.starts_on} to {period.ends_on}"


def _told(tally: Tally | None) -> str:
    return (
        "nothing" if tally is None else f"{tally.earned} points ({tally.reached.tier} from {tally.reached.threshold})"
    )
