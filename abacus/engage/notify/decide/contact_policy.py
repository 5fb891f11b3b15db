"""The contact policy of a country: how often its members may be told what, when they are left alone, and the share of
them to which nothing is promoted. Pure values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.local_clock import QuietHours
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.news import Campaigned, News, NewsKind

DAYS_OF_A_WEEK: Final = 7
_WHOLE: Final = 100


class MessageKind(StrEnum):
    """What messages are about. The list is closed: caps name it, and metrics count by it."""

    MARKETING = "marketing"  # what campaigns say, and journeys that do not say another kind
    SERVICE = "service"  # what journeys say that are of service, and no advertisement; codes, and steps of exchanges
    EARNED = "earned"
    EXPIRED = "expired"
    EXPIRING = "expiring"
    TIER_CHANGED = "tier_changed"


_KINDS: Final[Mapping[NewsKind, MessageKind]] = {
    NewsKind.EARNED: MessageKind.EARNED,
    NewsKind.EXPIRED: MessageKind.EXPIRED,
    NewsKind.EXPIRING: MessageKind.EXPIRING,
    NewsKind.TIER_CHANGED: MessageKind.TIER_CHANGED,
    NewsKind.CAMPAIGN: MessageKind.MARKETING,
    NewsKind.EXCHANGE_CODE: MessageKind.SERVICE,
    NewsKind.EXCHANGED: MessageKind.SERVICE,
}


OF_JOURNEYS: Final = (MessageKind.MARKETING, MessageKind.SERVICE)


def kind_of(news: News) -> MessageKind:
    """What caps count the news as: all marketing alike, be it of campaigns or of journeys."""
    terms = news.journey if isinstance(news, Campaigned) else None
    return _KINDS[news.kind] if terms is None else MessageKind(terms.kind)


def is_awaited(news: News) -> bool:
    """Whether the member has asked for it and waits: no policy is against it, and no cap counts it."""
    return news.kind is NewsKind.EXCHANGE_CODE


class Cap(NamedTuple):
    """The most messages on a day of the member's calendar, and on that day and the six before it."""

    a_day: int | None
    a_week: int | None

    def __str__(self) -> str:
        parts = [f"{most} a {span}" for most, span in ((self.a_day, "day"), (self.a_week, "week")) if most is not None]
        return ", ".join(parts)


class Capped(NamedTuple):
    """What a cap is for."""

    channel: ChannelName
    kind: MessageKind


@dataclass(frozen=True)
class ContactPolicy:
    """A version of the policy of a country. `timezone` is the zone of members who have set none. `holdout` is the share
    of members, in hundredths, to whom nothing is promoted. A message that a cap leaves no room for waits at most
    `patience_days`.
    """

    country: str
    timezone: str
    caps: Mapping[Capped, Cap] = field(default_factory=dict)
    quiet_hours: QuietHours | None = None
    holdout: int = 0
    patience_days: int = 0
    version: int = 0

    def __hash__(self) -> int:  # the generated one would hash the mapping, which has no hash
        return hash((self.country, self.version))

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def label(self) -> str:
        return f"{self.country}@{self.version}"

    @property
    def why_held_out(self) -> str:
        return f"in the holdout of {self.holdout} % of {self.label}"

    def holds_out(self, member_id: str) -> bool:
        return is_held_out(self.country, member_id, self.holdout)

    def numbered(self, version: int) -> "ContactPolicy":
        return replace(self, version=version)


def is_held_out(country: str, member_id: str, share: int) -> bool:
    """Whether a member is in a country's holdout. A hash decides, so a larger share keeps everybody of the smaller."""
    if not share:
        return False
    digest = blake2b(f"holdout\x1f{country}\x1f{member_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % _WHOLE < share
