"""How an account's tier changes: by points, by the end of a period, by an operator's word. Plain functions."""

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.core.errors import SetAside
from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, RateCard
from abacus.programs.tiers.decide.heard import Heard
from abacus.programs.tiers.decide.policy import LONG_AGO, NO_TIER, Period, Tally, carrying, counted, period_of


class Reason(StrEnum):
    """Why a tier changed."""

    UPGRADE = "upgrade"  # points were earned
    REVERSAL = "reversal"  # points that carried the tier were taken back
    PERIOD_END = "period end"  # it had lasted to the end of its next period
    OVERRIDE = "override"  # an operator set it
    OVERRIDE_CLEARED = "override cleared"  # an operator left it to the points again


class AccountTier(NamedTuple):
    """An account's tier by its points, and the day through which it lasts. `country` is the account's home: the
    first in which it earned under a card of its program; that country's calendar and thresholds hold.
    """

    member_id: str
    program: str
    country: str | None
    tier: str
    until: date | None
    last_seq: int
    changes: int

    @classmethod
    def opened(cls, id_: AccountId) -> "AccountTier":
        return cls(*id_, None, BASE_TIER, None, 0, 0)

    @property
    def id(self) -> AccountId:
        return self.member_id, self.program


class Change(NamedTuple):
    """A change of the tier that counts, under the account's next number. The fields stand in the order of the table's
    columns.
    """

    member_id: str
    program: str
    n: int
    country: str | None
    from_tier: str
    to_tier: str
    reason: Reason
    actor: str | None
    note: str | None
    earned: int | None
    starts_on: date | None
    ends_on: date | None
    until: date | None
    changed_at: datetime


class Known(NamedTuple):
    """The input of a decision on an account. An operator's override stands above the tier by points."""

    account: AccountTier
    tallies: Mapping[Period, Tally]
    override: str | None

    @property
    def tier(self) -> str:
        """The tier that counts."""
        return self.override or self.account.tier


class Calendars(NamedTuple):
    """The rate cards, and through which day the tiers of each country have been rolled."""

    book: CardBook
    rolled_through: Mapping[str, date]

    def through(self, country: str | None) -> date:
        return self.rolled_through.get(country, LONG_AGO) if country else LONG_AGO

    def card(self, heard: Heard, country: str) -> RateCard | None:
        """The card that the country had when the points were earned, if it issued these points. Points of a day that is
        yet to come count by the card that is expected then.
        """
        try:
            card = self.book.expected(country, heard.occurred_at).card
        except SetAside:
            return None
        return card if card.program == heard.program else None


def count(known: Known, heard: Heard, calendars: Calendars, now: datetime) -> tuple[Known, list[Change]]:
    """The account after these points. Points that were counted before change nothing."""
    account = known.account
    if heard.seq <= account.last_seq:
        return known, []
    card = calendars.card(heard, account.country or heard.country)
    home = account.country or (heard.country if card is not None else None)
    read = AccountTier(*account.id, home, account.tier, account.until, heard.seq, account.changes)
    known = Known(read, known.tallies, known.override)  # thrice as quick as `_replace`, for millions of events
    if card is None or card.tier_policy is None:
        return known, []
    through = calendars.through(home)
    known, rolled = roll(known, through, now)  # the job may be under way and not have come to this account
    period = period_of(heard.occurred_at, card.zone, card.tier_policy.period_months)
    tally = counted(known.tallies.get(period, Tally(period, 0, NO_TIER)), heard.points, card.tier_policy)
    known = Known(known.account, {**known.tallies, period: tally}, known.override)
    reason = Reason.UPGRADE if heard.points > 0 else Reason.REVERSAL
    known, changed = _settled(known, through, reason, tally, now)
    return known, [*rolled, *changed]


def roll(known: Known, through: date, now: datetime) -> tuple[Known, list[Change]]:
    """The account once that day is over: a tier that lasted no longer steps down to the tier earned since."""
    if known.account.until is None or known.account.until > through:
        return known, []
    ended = max(
        (tally for tally in known.tallies.values() if tally.period.ends_on <= through),
        key=lambda tally: tally.period,
        default=None,
    )
    return _settled(known, through, Reason.PERIOD_END, ended, now)


def override(known: Known, tier: str | None, actor: str, note: str | None, now: datetime) -> tuple[Known, list[Change]]:
    """The account under an operator's word, or again without one."""
    after = known._replace(override=tier)
    reason = Reason.OVERRIDE if tier is not None else Reason.OVERRIDE_CLEARED
    after, changes = _changed(known, after, reason, None, now)
    return after, [change._replace(actor=actor, note=note) for change in changes]


def _settled(
    known: Known, through: date, reason: Reason, decisive: Tally | None, now: datetime
) -> tuple[Known, list[Change]]:
    carrier = carrying(known.tallies.values(), through)
    tier, until = (carrier.reached.tier, carrier.period.until) if carrier else (BASE_TIER, None)
    if tier == known.account.tier and until == known.account.until:
        return known, []
    after = known._replace(account=known.account._replace(tier=tier, until=until))
    return _changed(known, after, reason, decisive, now)


def _changed(
    before: Known, after: Known, reason: Reason, decisive: Tally | None, now: datetime
) -> tuple[Known, list[Change]]:
    """The account after the change, with the change to publish; none when the tier that counts is the same."""
    if before.tier == after.tier:
        return after, []
    account = after.account._replace(changes=after.account.changes + 1)
    change = Change(
        member_id=account.member_id,
        program=account.program,
        n=account.changes,
        country=account.country,
        from_tier=before.tier,
        to_tier=after.tier,
        reason=reason,
        actor=None,
        note=None,
        earned=decisive and decisive.earned,
        starts_on=decisive and decisive.period.starts_on,
        ends_on=decisive and decisive.period.ends_on,
        until=None if after.override is not None else account.until,
        changed_at=now,
    )
    return after._replace(account=account), [change]
