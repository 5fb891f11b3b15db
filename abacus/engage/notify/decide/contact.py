"""What becomes of the due notices of a member: told now, put off, or never told, by the policies of their countries.
Pure.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import reduce
from typing import Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.local_clock import QuietHours, moment_of, over_all_at
from abacus.engage.notify.decide.contact_policy import (
    DAYS_OF_A_WEEK,
    Cap,
    Capped,
    ContactPolicy,
    MessageKind,
    is_awaited,
    kind_of,
)
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.news import Campaigned, News, Subject, subject_of
from abacus.engage.notify.decide.notice import Notice

_DAY: Final = timedelta(days=1)

Policies: TypeAlias = Mapping[str, ContactPolicy]  # by country
Told: TypeAlias = Mapping[tuple[Capped, date], int]  # how many messages of a capped kind a member had on each day

# Why the news is not told any more; None where it is.
Stopped: TypeAlias = Callable[[News], str | None]

NO_POLICIES: Final[Policies] = {}


def none_stopped(_: News) -> None:
    """All news is told."""


class Cause(StrEnum):
    """What stands against a message. The list is closed: metrics count by it."""

    HOLDOUT = "holdout"
    QUIET_HOURS = "quiet_hours"
    CAP = "cap"
    STOPPED = "stopped"


class DueNotice(NamedTuple):
    """A notice whose time has come, and the channels over which it is to be told."""

    notice: Notice
    channels: Collection[ChannelName]


class PutOff(NamedTuple):
    """A notice that waits, over these channels."""

    notice: Notice
    channels: tuple[ChannelName, ...]
    until: datetime
    cause: Cause


class Untold(NamedTuple):
    """A notice of which the member is never told over a channel, and the reason in words."""

    notice: Notice
    channel: ChannelName
    kind: MessageKind
    cause: Cause
    why: str


class Rest(NamedTuple):
    """When a member is left alone: whatever is sent later than now waits for that, too."""

    hours: QuietHours
    zone: ZoneInfo


@dataclass(slots=True)
class Contact:
    """What becomes of a member's due notices. `counted` has the messages that caps count, beside those before."""

    told: dict[ChannelName, list[Notice]] = field(default_factory=dict)
    put_off: list[PutOff] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)
    counted: Counter[tuple[Capped, date]] = field(default_factory=Counter)


def contact(
    due: Iterable[DueNotice],
    policies: Policies,
    told: Told,
    zone: ZoneInfo | None,
    now: datetime,
    *,
    stopped: Stopped = none_stopped,
) -> Contact:
    """Decides the due notices of one member, whose own zone is `zone`. The holdout comes before quiet hours, and these
    before caps, so that what waits for the morning is counted in the morning.
    """
    deciding = _Deciding(policies, told, zone, now, stopped)
    for each in sorted(due, key=_order):
        deciding.decide(each)
    return deciding.contact


def rest_of(notices: Sequence[Notice], policies: Policies, zone: ZoneInfo | None) -> Rest | None:
    """The quiet hours of a message: those of its first notice that has any."""
    for each in notices:
        if is_awaited(each.news):
            return None
        policy = policies.get(each.news.country or "")
        if hours := quiet_hours_of(each.news, policy):
            return Rest(reduce(QuietHours.with_, hours), zone or _zone_of(each.news, policy))
    return None


def quiet_hours_of(news: News, policy: ContactPolicy | None) -> list[QuietHours]:
    """Those of the country and those of the journey that says it: both apply, and neither takes from the other."""
    terms = news.journey if isinstance(news, Campaigned) else None
    both = (None if policy is None else policy.quiet_hours, None if terms is None else terms.quiet_hours)
    return [each for each in both if each is not None]


def _zone_of(news: News, policy: ContactPolicy | None) -> ZoneInfo:
    """Of members who have named none: that of the country's policy, or where there is none that of the journey."""
    if policy is not None:
        return policy.zone
    terms = news.journey if isinstance(news, Campaigned) else None
    return ZoneInfo("UTC" if terms is None else terms.timezone)


def capped(policies: Policies) -> bool:
    """Whether any cap has to be looked at."""
    return any(policy.caps for policy in policies.values())


def _order(due: DueNotice) -> tuple[int, datetime, int, str]:
    notice = due.notice
    return -notice.priority, notice.happened_at, notice.seq, notice.event_id


class _Deciding:
    def __init__(self, policies: Policies, told: Told, zone: ZoneInfo | None, now: datetime, stopped: Stopped) -> None:
        self.contact = Contact()
        self._policies = policies
        self._told = Counter(told)
        self._zone = zone
        self._now = now
        self._stopped = stopped
        self._subjects: set[tuple[ChannelName, Subject]] = set()  # of this message: more news of them is no more news

    def decide(self, due: DueNotice) -> None:
        policy, kind = self._policies.get(due.notice.news.country or ""), kind_of(due.notice.news)
        if (why := self._stopped(due.notice.news)) is not None:
            self._never(due.notice, due.channels, kind, Cause.STOPPED, why)
            return
        if is_awaited(due.notice.news):
            self._tell(due.notice, due.channels)
            return
        zone = self._zone or _zone_of(due.notice.news, policy)
        if policy is not None and kind is MessageKind.MARKETING and policy.holds_out(due.notice.member_id):
            self._never(due.notice, due.channels, kind, Cause.HOLDOUT, policy.why_held_out)
            return
        end = over_all_at(self._now, zone, quiet_hours_of(due.notice.news, policy))
        if end > self._now:
            self._put_off(due.notice, due.channels, end, Cause.QUIET_HOURS)
            return
        if policy is None:
            self._tell(due.notice, due.channels)
            return
        for channel in due.channels:
            self._decide_over(channel, due.notice, kind, policy, zone)

    def _decide_over(
        self, channel: ChannelName, notice: Notice, kind: MessageKind, policy: ContactPolicy, zone: ZoneInfo
    ) -> None:
        what = Capped(channel, kind)
        cap, today = policy.caps.get(what), self._now.astimezone(zone).date()
        if cap is None or (channel, subject_of(notice.news)) in self._subjects:
            self._tell(notice, [channel])
            return
        day = self._day_with_room(what, cap, today)
        if day == today:
            self._told[what, today] += 1
            self.contact.counted[what, today] += 1
            self._tell(notice, [channel])
            return
        again = over_all_at(moment_of(day, time(), zone), zone, quiet_hours_of(notice.news, policy))
        if again > notice.happened_at + policy.patience_days * _DAY:
            self._never(notice, [channel], kind, Cause.CAP, f"over the cap {cap} of {policy.label}")
        else:
            self._put_off(notice, [channel], again, Cause.CAP)

    def _day_with_room(self, what: Capped, cap: Cap, today: date) -> date:
        """The first day from today on on which one more message may be told, as far as is known by now."""
        day = today
        while not self._has_room(what, cap, day):
            day += _DAY
        return day

    def _has_room(self, what: Capped, cap: Cap, day: date) -> bool:
        week = sum(self._told[what, day - before * _DAY] for before in range(DAYS_OF_A_WEEK))
        return (cap.a_day is None or self._told[what, day] < cap.a_day) and (cap.a_week is None or week < cap.a_week)

    def _tell(self, notice: Notice, channels: Iterable[ChannelName]) -> None:
        for channel in channels:
            self._subjects.add((channel, subject_of(notice.news)))
            self.contact.told.setdefault(channel, []).append(notice)

    def _put_off(self, notice: Notice, channels: Iterable[ChannelName], until: datetime, cause: Cause) -> None:
        if over := tuple(channels):
            self.contact.put_off.append(PutOff(notice, over, until, cause))

    def _never(
        self, notice: Notice, channels: Iterable[ChannelName], kind: MessageKind, cause: Cause, why: str
    ) -> None:
        self.contact.untold += [Untold(notice, channel, kind, cause, why) for channel in channels]
