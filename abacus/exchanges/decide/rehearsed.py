"""Exchanges of the sandbox: programmes as they hold there, and what a partner says that is only played. Pure.

Accounts are not like others by the beginning of their numbers, so that each member who is invented has its own.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from abacus.core.fields import EARLIEST
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.heard import (
    Credited,
    Heard,
    NotTakenBack,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.decide.invented_accounts import MATCHES, REFUSED
from abacus.exchanges.decide.link import without_gaps
from abacus.exchanges.decide.programme import Caps, Credit, Direction, Programme
from abacus.exchanges.types import Match

SLOW: Final = "000000007"  # decided ten seconds later
SILENT: Final = "000000008"  # nothing is said for ten seconds
KEPT: Final = "000000009"  # what was credited is not taken back
LINKED: Final = "linked-"  # how accounts begin that are linked to the member of the same id
HELD: Final = "held-"  # how the ids begin of members whose exchanges are not sent for a while
CODE: Final = "000000"  # of every link
DECIDES_AFTER: Final = timedelta(seconds=10)
SENDS_AFTER: Final = timedelta(minutes=10)

_DIGITS: Final = len(SLOW)
_LIMITLESS: Final = Credit(Decimal("Infinity"))


def rehearsed(programme: Programme) -> Programme:
    """What is approved has begun, a new link may be used at once, and neither money nor other members use it up. Nobody
    signs in at the partner.
    """
    caps: Mapping[Direction, Caps] = {way: each._replace(day=None, ever=None) for way, each in programme.caps.items()}
    return replace(
        programme,
        starts_at=EARLIEST,
        cooling_off=timedelta(0),
        sign_in=None,
        money=programme.money._replace(terms=_LIMITLESS),
        caps=caps,
    )


def is_kept_back(exchange: Exchange, now: datetime) -> bool:
    """Whether there is still time to cancel it before it is sent."""
    asked_at = exchange.asked_at or exchange.quoted_at
    return exchange.member_id.startswith(HELD) and now < asked_at + SENDS_AFTER


def match_of(number: str) -> Match:
    return MATCHES.get(_kind(number), Match.MATCH)


def said_at_once(number: str, exchange_id: UUID, amount: int) -> Heard:
    """The answer to a transfer."""
    kind = _kind(number)
    if kind == SLOW:
        return Pending("it is decided in ten seconds")
    if kind == SILENT:
        return Silence("this account makes the partner silent")
    return _decided(kind, exchange_id, amount)


def said_later(number: str, exchange_id: UUID, amount: int, since: timedelta) -> Heard:
    """The answer to a question, so long after the transfer was sent."""
    if since < DECIDES_AFTER:
        return said_at_once(number, exchange_id, amount)
    return _decided(_kind(number), exchange_id, amount)


def said_of_undoing(number: str) -> Heard:
    if _kind(number) == KEPT:
        return NotTakenBack("this account keeps what was credited")
    return TakenBack()


def _decided(kind: str, exchange_id: UUID, amount: int) -> Heard:
    refusal = REFUSED.get(kind)
    if refusal is not None:
        return Rejected(refusal, "by the number of its account")
    return Credited(amount, f"TEST-{exchange_id.hex[:12].upper()}")


def _kind(number: str) -> str:
    return without_gaps(number)[:_DIGITS]
