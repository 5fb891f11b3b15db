"""The messages of the expiry queue: accounts of a country whose points lapse with a month's end. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.ids import ID_PATTERN, PROGRAM_PATTERN, expiry_key
from abacus.ledger.decide.lapse import MonthEnd
from abacus.ledger.types.account import AccountId
from abacus.platform.validation import Moment, unreadable
from abacus.programs.expiry.decide.month import Month

MAX_ACCOUNTS: Final = 500
_MAX_BYTES: Final = 100 * 1024  # of the accounts' names: far below the limit of a message

_Account = tuple[
    Annotated[str, StringConstraints(pattern=ID_PATTERN)], Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
]


class ExpiryMessage(TypedDict):
    """The body of a message on the expiry queue: `number` of a run, and in it members and programs."""

    v: Literal[1]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    month: Annotated[str, StringConstraints(pattern=r"^20\d\d-(0[1-9]|1[0-2])$")]
    number: Annotated[int, Field(strict=True, ge=1, lt=2**31)]
    lapsed_at: Moment
    accounts: Annotated[list[_Account], Field(min_length=1, max_length=MAX_ACCOUNTS)]


ENVELOPE: Final[TypeAdapter[ExpiryMessage]] = TypeAdapter(ExpiryMessage)


class Envelope(NamedTuple):
    """Accounts of a country whose points lapse with a month's end: the `number`-th part of them, sorted."""

    country: str
    month: Month
    number: int
    lapsed_at: datetime
    accounts: tuple[AccountId, ...]

    @property
    def end(self) -> MonthEnd:
        return MonthEnd(expiry_key(str(self.month)), self.month.last_day, self.lapsed_at)


def parted(accounts: Iterable[AccountId]) -> Iterator[tuple[AccountId, ...]]:
    """The accounts in order, in as few parts as the limits of an envelope allow."""
    part: list[AccountId] = []
    size = 0
    for account in accounts:
        length = len(orjson.dumps(account)) + 1
        if part and (len(part) == MAX_ACCOUNTS or size + length > _MAX_BYTES):
            yield tuple(part)
            part, size = [], 0
        part.append(account)
        size += length
    if part:
        yield tuple(part)


def encode_envelope(envelope: Envelope) -> str:
    message: dict[str, Any] = {
        "v": 1,
        "country": envelope.country,
        "month": str(envelope.month),
        "number": envelope.number,
        "lapsed_at": envelope.lapsed_at,
        "accounts": envelope.accounts,
    }
    return orjson.dumps(message).decode()


def decode_envelope(body: str) -> Envelope:
    """Raises `SetAside`."""
    try:
        message = ENVELOPE.validate_json(body)
    except ValidationError as error:
        raise unreadable("an expiry envelope", error) from error
    return Envelope(
        message["country"],
        Month.parse(message["month"]),
        message["number"],
        message["lapsed_at"],
        tuple(sorted(message["accounts"])),
    )
