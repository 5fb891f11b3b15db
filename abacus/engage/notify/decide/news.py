"""News: one thing that a member is told, in figures, with the fields that templates may use. Pure.

News of one kind and program that comes together is merged into one, which counts it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from abacus.core.local_clock import QuietHours


class NewsKind(StrEnum):
    """The kinds of news. The list is closed: templates are named by it, and metrics count by it."""

    EARNED = "earned"
    EXPIRED = "expired"
    EXPIRING = "expiring"
    TIER_CHANGED = "tier_changed"
    CAMPAIGN = "campaign"
    EXCHANGE_CODE = "exchange_code"
    EXCHANGED = "exchanged"


class _About(BaseModel):
    """The account that the news is about."""

    model_config = ConfigDict(frozen=True)

    program: str
    country: str | None  # None if a tier was set before the member earned anything


class Portion(BaseModel):
    """Points that are good until one day."""

    model_config = ConfigDict(frozen=True)

    points: int
    expires_on: date


class Earned(_About):
    """Points came in. `balance` and `expires_on` are the account's after the last of them. With `lifetime` each lot
    lapses by itself: then there is no `expires_on`, and `lots` says until when the new points are good, soonest first.
    """

    kind: Literal[NewsKind.EARNED] = NewsKind.EARNED
    points: int
    count: int
    balance: int
    expires_on: date | None
    lots: tuple[Portion, ...] = ()
    lifetime: bool = False


class Expired(_About):
    """Points are gone because nothing moved on the account, or with `lifetime` because their own day is over."""

    kind: Literal[NewsKind.EXPIRED] = NewsKind.EXPIRED
    points: int
    count: int
    balance: int
    lifetime: bool = False


class Expiring(_About):
    """Points will expire at the end of a day, `days` from now, unless there is a transaction. With `lifetime` no
    transaction changes that.
    """

    kind: Literal[NewsKind.EXPIRING] = NewsKind.EXPIRING
    points: int
    expires_on: date
    days: int
    lifetime: bool = False


class TierChanged(_About):
    """The tier is another one. `until` is the last day that it is sure to last to."""

    kind: Literal[NewsKind.TIER_CHANGED] = NewsKind.TIER_CHANGED
    from_tier: str
    to_tier: str
    reason: str
    earned: int | None
    until: date | None


class CampaignWords(BaseModel):
    """What a campaign says in one locale."""

    model_config = ConfigDict(frozen=True)

    title: str
    text: str


class JourneyTerms(BaseModel):
    """Of a journey that has something to say: its version, of what kind its messages are, and its quiet hours, by the
    clock of the member, or else of its zone.
    """

    model_config = ConfigDict(frozen=True)

    version: int
    kind: str = "marketing"
    quiet_hours: QuietHours | None = None
    timezone: str = "UTC"


class Campaigned(BaseModel):
    """A campaign or a `journey` has something to say, in its own words for each locale; `key` is that of its effect,
    and `campaign` the name of either.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal[NewsKind.CAMPAIGN] = NewsKind.CAMPAIGN
    campaign: str
    key: str
    country: str
    words: dict[str, CampaignWords]
    journey: JourneyTerms | None = None

    @property
    def program(self) -> str:
        """News of one kind and program is merged; no two of these are."""
        return self.key


class ExchangeCode(_About):
    """The code by which a member verifies its account at a partner, where points are called `unit`. It is told at once,
    whatever a contact policy says.
    """

    kind: Literal[NewsKind.EXCHANGE_CODE] = NewsKind.EXCHANGE_CODE
    unit: str
    code: str
    minutes: int


class ExchangeStep(StrEnum):
    """How far an exchange has come, as its member sees it."""

    BEGUN = "begun"  # the points are held
    DONE = "done"  # both sides have their points
    OFF = "off"  # the points are free again, or nothing comes
    BACK = "back"  # the partner has taken it back, and the points are back


class Exchanged(_About):
    """An exchange has come a step further: points of the member `out` to a partner, or of the partner `in`, which calls
    its own `unit`. `reason` says why it is off, by a word of the contract with partners or of ours.
    """

    kind: Literal[NewsKind.EXCHANGED] = NewsKind.EXCHANGED
    exchange: str
    direction: Literal["out", "in"]
    step: ExchangeStep
    points: int
    theirs: int
    unit: str
    reason: str | None = None


News = Earned | Expired | Expiring | TierChanged | Campaigned | ExchangeCode | Exchanged
TaggedNews = Annotated[News, Field(discriminator="kind")]
NEWS_LIST_JSON: Final[TypeAdapter[list[News]]] = TypeAdapter(list[TaggedNews])
NEWS_JSON: Final[TypeAdapter[News]] = TypeAdapter(TaggedNews)

# The most important kind comes first in a message, and gives it its title.
_ORDER: Final = (
    NewsKind.EXCHANGE_CODE,
    NewsKind.EXCHANGED,
    NewsKind.CAMPAIGN,
    NewsKind.TIER_CHANGED,
    NewsKind.EXPIRING,
    NewsKind.EXPIRED,
    NewsKind.EARNED,
)

_DAY: Final = date(2026, 7, 31)
_SOON: Final = Portion(points=1, expires_on=_DAY)
_LATER: Final = Portion(points=1240, expires_on=date(2026, 8, 31))
_LATEST: Final = Portion(points=9, expires_on=date(2026, 9, 30))
_LOTS: Final = ((_SOON,), (_SOON, _LATER), (_SOON, _LATER, _LATEST))

# Each template is rendered with all samples of its kind before it is used: one and many, with and without each optional
# field.
SAMPLES: Final[dict[NewsKind, Sequence[News]]] = {
    NewsKind.EARNED: (
        Earned(program="GRP", country="SG", points=1250, count=3, balance=4500, expires_on=_DAY),
        Earned(program="GRP", country="SG", points=1, count=1, balance=1, expires_on=None),
        *(
            Earned(
                program="GRP",
                country="SG",
                points=sum(each.points for each in lots),
                count=len(lots),
                balance=160,
                expires_on=None,
                lots=lots,
                lifetime=True,
            )
            for lots in _LOTS
        ),
    ),
    NewsKind.EXPIRED: (
        Expired(program="GRP", country="SG", points=1250, count=1, balance=0),
        Expired(program="GRP", country="SG", points=1, count=2, balance=30),
        Expired(program="GRP", country="SG", points=40, count=1, balance=120, lifetime=True),
    ),
    NewsKind.EXPIRING: (
        Expiring(program="GRP", country="SG", points=1250, expires_on=_DAY, days=30),
        Expiring(program="GRP", country="SG", points=1, expires_on=_DAY, days=1),
        Expiring(program="GRP", country="SG", points=2, expires_on=_DAY, days=0),
        Expiring(program="GRP", country="SG", points=110, expires_on=_DAY, days=7, lifetime=True),
    ),
    NewsKind.TIER_CHANGED: (
        TierChanged(
            program="GRP", country="SG", from_tier="member", to_tier="silver", reason="upgrade", earned=300, until=_DAY
        ),
        TierChanged(
            program="GRP", country="SG", from_tier="gold", to_tier="member", reason="period end", earned=0, until=None
        ),
        TierChanged(
            program="GRP", country=None, from_tier="member", to_tier="gold", reason="override", earned=None, until=None
        ),
    ),
    NewsKind.EXCHANGE_CODE: (ExchangeCode(program="GRP", country="SG", unit="miles", code="012345", minutes=10),),
    NewsKind.EXCHANGED: tuple(
        Exchanged(
            program="GRP",
            country="SG",
            exchange="3f6b1c9e-6a0b-4b1f-9a53-0d5d7f0c7a02",
            direction=direction,
            step=step,
            points=points,
            theirs=1000,
            unit="miles",
            reason=reason,
        )
        for direction in ("out", "in")
        for step in ExchangeStep
        for points, reason in ((2500, None), (1, "account-closed"), (2, "a-reason-of-theirs"))
    ),
    NewsKind.CAMPAIGN: (
        Campaigned(
            campaign="third_order",
            key="campaign:third_order:transactions:transaction.completed:mart:T-1001:1",
            country="SG",
            words={
                "en": CampaignWords(title="500 points for you", text="Thank you for your third order."),
                "id": CampaignWords(title="500 poin untuk Anda", text="Terima kasih atas pesanan ketiga Anda."),
                "vi": CampaignWords(title="500 điểm cho bạn", text="Cảm ơn bạn về đơn hàng thứ ba."),
            },
        ),
    ),
}

# What campaigns say has no template in a file: it is rendered when the campaign decides to say it.
WITH_TEMPLATES: Final = tuple(kind for kind in NewsKind if kind is not NewsKind.CAMPAIGN)


def fields_of(kind: NewsKind) -> frozenset[str]:
    """The fields that a template of this kind may use."""
    return frozenset(type(SAMPLES[kind][0]).model_fields) - {"kind"}


Subject: TypeAlias = tuple[NewsKind, str, date | str | None]


def subject_of(news: News) -> Subject:
    """What the news is about: all news of one subject becomes one."""
    about: date | str | None = None
    if isinstance(news, Expiring) and news.lifetime:
        about = news.expires_on
    elif isinstance(news, Exchanged):
        about = news.exchange
    return news.kind, news.program, about


def merged(news: Iterable[News]) -> list[News]:
    """Merge news, given in the order of time, into one for each kind and program; the most important comes first. Lots
    that will expire on different days stay apart, and so do exchanges.
    """
    merged_news: dict[Subject, News] = {}
    for each in news:
        about = subject_of(each)
        merged_news[about] = _merge(merged_news[about], each) if about in merged_news else each
    return sorted(merged_news.values(), key=lambda each: (_ORDER.index(each.kind), each.program))


def _merge(first: News, then: News) -> News:
    if isinstance(first, Earned) and isinstance(then, Earned):
        sums = {"points": first.points + then.points, "count": first.count + then.count}
        return then.model_copy(update=sums | {"lots": _by_day((*first.lots, *then.lots))})
    if isinstance(first, Expired) and isinstance(then, Expired):
        return then.model_copy(update={"points": first.points + then.points, "count": first.count + then.count})
    if isinstance(first, TierChanged):
        return then.model_copy(update={"from_tier": first.from_tier})
    return then  # the later word on when points will expire, and on an exchange


def _by_day(lots: Iterable[Portion]) -> tuple[Portion, ...]:
    points: Counter[date] = Counter()
    for each in lots:
        points[each.expires_on] += each.points
    return tuple(Portion(points=points[day], expires_on=day) for day in sorted(points))
