"""A programme: what is exchanged with a partner, by which terms and by which carrier. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from abacus.core.fields import EARLIEST
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.decide.term_version import TermVersion
from abacus.documents.decide.version_words import Labels
from abacus.engage.asking.decide.sides import RequestSides
from abacus.exchanges.decide.terms import Terms

SIDES: Final = RequestSides("exchange", "a request for an exchange")  # of rules
LABELS: Final = Labels("programme", NAME_PATTERN, "skymiles")


class Direction(StrEnum):
    """Whether points leave the house or come to it."""

    OUT = "out"
    IN = "in"


class Offered(NamedTuple):
    """One direction. `price` is what the giver's house pays the taker's for each point that the taker credits. Beside
    the points that are exchanged the member pays `fee` points; there is none for what comes in.
    """

    terms: Terms
    price: Decimal
    fee: int = 0


class Caps(NamedTuple):
    """The most of our points in a direction: of a member in a day and a month, of all in a day and ever."""

    member_day: int | None = None
    member_month: int | None = None
    day: int | None = None
    ever: int | None = None


class ByHttp(NamedTuple):
    """The partner has a server that keeps the contract. `remembers_refusals` is what its conformance report says: of a
    partner that does not only a tombstone releases.
    """

    url: str
    remembers_refusals: bool = True


class ByFile(NamedTuple):
    """Files to a folder or to `s3://BUCKET/PREFIX`, one a day at least, closed at `cut_off` by the programme's zone."""

    place: str
    cut_off: time


Carrier: TypeAlias = ByHttp | ByFile


class SignIn(NamedTuple):
    """Members may link their accounts by signing in at the partner (OAuth 2.0). `redirect_uris` are where the partner
    sends them back to; with an `issuer` it says who it is when it does.
    """

    authorize_url: str
    token_url: str
    account_url: str
    client_id: str
    redirect_uris: tuple[str, ...]
    scope: str | None = None
    issuer: str | None = None


class Prefunded(NamedTuple):
    """The house pays in advance. Below `alert_below` people are told."""

    alert_below: Decimal


class Credit(NamedTuple):
    """The house pays afterwards, up to this sum."""

    limit: Decimal


class Money(NamedTuple):
    """How both houses settle what was exchanged."""

    currency: str
    tax_code: str
    terms: Prefunded | Credit


@dataclass(frozen=True)
class Programme(TermVersion):
    """A programme, which never changes once it was submitted: a change is another version. `when` is the document of
    the rule that says which members may exchange.
    """

    name: str
    partner: str  # of the house: its keys, secrets and webhooks
    country: str
    program: str  # the kind of points that the house's side has
    unit: str  # what the partner calls its points
    timezone: str
    starts_at: datetime
    ends_at: datetime
    directions: Mapping[Direction, Offered]
    carrier: Carrier
    money: Money
    caps: Mapping[Direction, Caps] = field(default_factory=dict)
    quote_for: timedelta = timedelta(minutes=10)
    late_after: timedelta = timedelta(hours=24)  # people are told, and the partner is asked to cancel at `cancel_after`
    cancel_after: timedelta | None = None
    cooling_off: timedelta = timedelta(0)
    review_above: int | None = None
    sign_in: SignIn | None = None
    reverses_for: timedelta | None = None  # how long the partner takes back what it credited; None: it cannot be undone
    when: Mapping[str, object] | None = None
    about: str = ""
    version: int = 0
    approved_at: datetime = field(default=EARLIEST)

    __hash__ = TermVersion.__hash__

    @property
    def remembers_refusals(self) -> bool:
        """Whether a refusal of the partner is one for ever."""
        return not isinstance(self.carrier, ByHttp) or self.carrier.remembers_refusals

    def numbered(self, version: int) -> "Programme":
        return replace(self, version=version)
