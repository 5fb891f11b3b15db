"""Past purchases as items that an offer is judged by. Pure.

A purchase of the ledger says its vertical and how it was paid, and names no product, merchant, brand or place: an offer
that is for some of these fits none, and categories are verticals.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused
from abacus.core.fields import EARLIEST
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.purchase import PAYMENT_TYPE, VERTICAL

_NOT_KNOWN: Final = ("products", "merchants", "brands", "places", "regions")
_NOBODY_SAID: Final = ""


class PastPurchase(NamedTuple):
    """A transaction that earned points, by the tier that the member had then."""

    at: datetime
    member_id: str
    program: str
    amount: Decimal
    vertical: str
    payment_type: str
    tier: str
    points: int


class Term(Protocol):
    """When an offer or a reward holds; a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def starts_at(self) -> datetime: ...
    @property
    def ends_at(self) -> datetime: ...


Held = TypeVar("Held", bound=Term)


class Window(NamedTuple):
    """From a moment on, and before the other."""

    begin: datetime
    end: datetime


def item_of(purchase: PastPurchase, currency: str) -> Item:
    """One piece at the price that was paid."""
    units = purchase.amount.scaleb(decimals_of(currency)).to_integral_value(ROUND_HALF_UP)
    return Item(
        _NOBODY_SAID,
        _NOBODY_SAID,
        _NOBODY_SAID,
        _NOBODY_SAID,
        (purchase.vertical,),
        int(units),
        currency,
        variables={VERTICAL: purchase.vertical, PAYMENT_TYPE: purchase.payment_type},
    )


def not_told(offer: Offer) -> Sequence[str]:
    """What the offer is for that past purchases do not say."""
    return [each for each in _NOT_KNOWN if getattr(offer.scope.values, each)]


def in_its_time(version: Held, window: Window, *, any_time: bool) -> Held:
    """The offer, or the reward, as it would have held in the window: in its own times, or at `any_time`. Raises
    `Refused`.
    """
    starts_at, ends_at = (window.begin, window.end) if any_time else (version.starts_at, version.ends_at)
    if max(starts_at, window.begin) >= min(ends_at, window.end):
        first, last = starts_at.astimezone(version.zone), ends_at.astimezone(version.zone)
        raise Refused(
            f"{version.name} holds from {first.isoformat()} to {last.isoformat()}, which is not in the window;"
            " --any-time leaves that out of account"
        )
    return replace(version, starts_at=starts_at, ends_at=ends_at, approved_at=EARLIEST)
