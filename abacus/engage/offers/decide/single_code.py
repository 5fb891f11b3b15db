"""Single codes: what members type, and which reservation takes which code. Pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.codes import MOST_LENGTH, is_ours, normalized
from abacus.core.errors import Refused
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.reservation import Reservation, ReservationStatus

CODE_UNKNOWN: Final = "code-unknown"
LEAST_LENGTH: Final = 3
_DIGEST_BYTES: Final = 16
_CODE: Final = re.compile(f"[A-Z0-9]{{{LEAST_LENGTH},{MOST_LENGTH}}}")


class SingleCode(NamedTuple):
    """A code of the pool of an offer, and the reservation that has taken it, until when, and whether it is redeemed."""

    offer: str
    pool: int
    batch: int
    digest: bytes
    taken_by: UUID | None = None
    until: datetime | None = None
    is_used: bool = False

    def is_taken(self, now: datetime) -> bool:
        """As far as the code itself tells: its reservation may have ended a moment ago."""
        return self.is_used or (self.until is not None and now < self.until)


class Taking(NamedTuple):
    """A reservation that takes a code: a row of `offer_code_use`."""

    digest: bytes
    pool: int
    batch: int
    reservation_id: UUID
    until: datetime


class CodeRefused(Refused):
    """An offer is not taken because of the code."""

    reason: str

    def __init__(self, offer: str, message: str) -> None:
        super().__init__(message)
        self.offer = offer


class CodeUsed(CodeRefused):
    """Another reservation has taken the code."""

    reason = Reason.CODE_USED.value

    def __init__(self, offer: str) -> None:
        super().__init__(offer, f"{offer}: the code is used")


class CodeUnknown(CodeRefused):
    """No offer in force in the country has one of the codes; `count` says how many."""

    reason = CODE_UNKNOWN

    def __init__(self, offer: str, count: int) -> None:
        super().__init__(offer, "there is no such code")
        self.count = count


def readable(typed: str) -> str | None:
    """The code as it is compared; None for what can be no code."""
    code = normalized(typed)
    return code if _CODE.fullmatch(code) else None


def can_be_there(code: str, *, all_checked: bool) -> bool:
    """Whether a slip is noticed without a look at what is loaded."""
    return not all_checked or is_ours(code)


def digest_of(code: str, key: bytes) -> bytes:
    return hashlib.blake2b(code.encode(), key=key, digest_size=_DIGEST_BYTES).digest()


def codes_for(offers: Sequence[str], typed: Iterable[Sequence[SingleCode]]) -> Sequence[SingleCode | None]:
    """For each use of an offer a code of its pool, each code once; `typed` has for each code the pools that have it."""
    left = [list(each) for each in typed]
    chosen: list[SingleCode | None] = []
    for offer in offers:
        place, code = next(
            ((place, one) for place, each in enumerate(left) for one in each if one.offer == offer), (0, None)
        )
        if code is not None:
            left[place] = []
        chosen.append(code)
    return chosen


def has_ended(of: Reservation) -> bool:
    """Whether the reservation takes no code any more, and never will."""
    return of.status not in {ReservationStatus.HELD, ReservationStatus.REDEEMED}


NO_CODES: Final[Mapping[str, Sequence[SingleCode]]] = {}
