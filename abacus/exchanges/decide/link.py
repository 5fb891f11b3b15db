"""A link: a member's account at a partner's programme, who verified it, and what is against using it. Pure."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.exchanges.types import Match

NUMBER_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9 ._@+-]{2,63}$"
CODE_PATTERN: Final = r"^[0-9]{6}$"
CODE_DIGITS: Final = 6
CODE_FOR: Final = timedelta(minutes=10)
MOST_TRIES: Final = 5  # of a code
_SHORT: Final = 8  # of a shorter number fewer characters are shown
_DIGEST_BYTES: Final = 32
_APART: Final = re.compile(r"[ -]")


class LinkState(StrEnum):
    """Where a link stands. `COOLING` is a verified one before it may be used: no row says so."""

    ASKED = "asked"
    VERIFIED = "verified"
    COOLING = "cooling"
    REFUSED = "refused"
    ENDED = "ended"


class LinkWay(StrEnum):
    """What verifies a link, or has verified it."""

    CODE = "code"  # that the member was told
    PARTNER = "partner"  # its word
    OAUTH = "oauth"  # the member's sign-in at the partner


class LinkFault(StrEnum):
    """What is against a link, or against what is asked of it."""

    NO_PROGRAMME = "no-programme"
    NO_LINK = "no-link"
    NOT_VERIFIED = "not-verified"
    COOLING_OFF = "cooling-off"
    LINKED_ALREADY = "linked-already"  # the member has another number there
    NUMBER_LINKED = "number-linked"  # to a member, and nobody is told to which
    WRONG_CODE = "wrong-code"
    CODE_OVER = "code-over"  # it was never sent, its time is over, or it was tried too often
    NOT_ASKABLE = "not-askable"  # the partner cannot be asked: only a code verifies
    NO_SIGN_IN = "no-sign-in"  # the programme has none
    NO_REDIRECT = "no-redirect"  # the programme does not have this address
    WRONG_SIGN_IN = "wrong-sign-in"
    SIGN_IN_OVER = "sign-in-over"  # it was never begun, is used, its time is over, or it was tried too often
    TOO_MANY_ATTEMPTS = "too-many-attempts"


class LinkRefused(Refused):
    """The link cannot be used, or not be made; `fault` says why."""

    def __init__(self, fault: LinkFault, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.fault = fault
        self.retry_after_s = retry_after_s


class Link(NamedTuple):
    """A row, without its number. `shown` is the end of the number. `code_until` is of the code that the member was
    told, or that the partner sends back. `way` is there once it is verified, and of a sign-in from the start.
    """

    link_id: UUID
    programme: str
    partner: str
    member_id: str
    shown: str
    state: LinkState
    code_until: datetime | None
    tries: int
    asked_at: datetime
    asked_by: str
    verified_at: datetime | None
    usable_from: datetime | None
    ended_at: datetime | None
    ended_by: str | None
    reason: str | None
    way: LinkWay | None = None

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    def state_at(self, now: datetime) -> LinkState:
        if self.state is LinkState.VERIFIED and self.usable_from is not None and now < self.usable_from:
            return LinkState.COOLING
        return self.state


class Attempts(NamedTuple):
    """How often linking may be tried on a day of UTC: by a member, and with a number."""

    member: int = 20
    number: int = 10


class Refusal(NamedTuple):
    """Why the partner's answer refuses a link: the reason, and what may be done about it."""

    reason: str
    detail: str


# `MATCH` verifies.
REFUSALS: Final = {
    Match.NEAR: Refusal("name-near", "the name is nearly that of the account: link it again with the whole name"),
    Match.NONE: Refusal("account-unknown", "the partner has no account with this number and name"),
    Match.CLOSED: Refusal("account-closed", "the account is closed"),
}
UNKNOWN_SHOWN: Final = "…"  # of a link whose number only the sign-in tells


def is_number_text(text: str) -> bool:
    return re.fullmatch(NUMBER_PATTERN, text) is not None


def is_code_text(text: str) -> bool:
    return re.fullmatch(CODE_PATTERN, text) is not None


def shown(number: str) -> str:
    """The end of a number, for people who know it."""
    return f"…{number[-4:] if len(number) >= _SHORT else number[-2:]}"


def without_gaps(number: str) -> str:
    """The same for a number however its parts are kept apart."""
    return _APART.sub("", number).upper()


def number_digest(key: bytes, programme: str, number: str) -> bytes:
    """Finds a number at a programme, however its parts are kept apart."""
    same = without_gaps(number)
    return hashlib.blake2b(f"{programme}\n{same}".encode(), key=key, digest_size=_DIGEST_BYTES).digest()


def code_digest(key: bytes, link_id: UUID, code: str) -> bytes:
    """A code is short: without the key nobody finds it from this."""
    return hashlib.blake2b(f"{link_id}\n{code}".encode(), key=key, digest_size=_DIGEST_BYTES).digest()


def check_usable(link: Link | None, programme: str, now: datetime) -> Link:
    """The open link of a member, if it may be used now. Raises `LinkRefused`."""
    if link is None or not link.is_open:
        raise LinkRefused(LinkFault.NO_LINK, f"the member has no account that is linked at {programme}")
    match link.state_at(now):
        case LinkState.VERIFIED:
            return link
        case LinkState.COOLING:
            when = link.usable_from.isoformat() if link.usable_from is not None else ""
            raise LinkRefused(LinkFault.COOLING_OFF, f"the link may be used from {when} on")
        case _:
            raise LinkRefused(LinkFault.NOT_VERIFIED, f"the account {link.shown} is not verified yet")


def check_may_ask(link: Link | None, *, is_same: bool) -> None:
    """Whether a member with this open link may ask for another one. Raises `LinkRefused`."""
    if link is not None and link.verified_at is not None and not is_same:
        detail = f"the member has the account {link.shown} linked there; end that link first"
        raise LinkRefused(LinkFault.LINKED_ALREADY, detail)


def check_code_is_open(link: Link, now: datetime) -> None:
    """Raises `LinkRefused`."""
    if link.way is LinkWay.OAUTH or not _is_in_time(link, now):
        raise LinkRefused(LinkFault.CODE_OVER, "no code is open: it was never sent, is over, or was tried too often")


def check_sign_in_is_open(link: Link, now: datetime) -> None:
    """Raises `LinkRefused`."""
    if link.way is not LinkWay.OAUTH or not _is_in_time(link, now):
        detail = "no sign-in is open: it was never begun, was used, is over, or was tried too often; begin again"
        raise LinkRefused(LinkFault.SIGN_IN_OVER, detail)


def _is_in_time(link: Link, now: datetime) -> bool:
    return link.code_until is not None and now < link.code_until and link.tries < MOST_TRIES


def is_code(expected: bytes | None, given: bytes) -> bool:
    return expected is not None and hmac.compare_digest(expected, given)


def wrong_code(tries: int) -> LinkRefused:
    """The number of tries, this one included."""
    left = MOST_TRIES - tries
    return LinkRefused(LinkFault.WRONG_CODE, f"it is not the code that was sent; {left} of {MOST_TRIES} tries are left")


def wrong_sign_in(tries: int) -> LinkRefused:
    """The number of tries, this one included."""
    left = MOST_TRIES - tries
    detail = f"this is not what the partner sends back for this link; {left} of {MOST_TRIES} tries are left"
    return LinkRefused(LinkFault.WRONG_SIGN_IN, detail)


def check_attempts(counts: Sequence[int], most: Attempts, now: datetime) -> None:
    """`counts` are of the member and, where it is known, of the number. Raises `LinkRefused`."""
    if any(count > limit for count, limit in zip(counts, most, strict=False)):
        midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
        wait = max(1, int((midnight - now).total_seconds()))
        raise LinkRefused(LinkFault.TOO_MANY_ATTEMPTS, "too many attempts today", retry_after_s=wait)
