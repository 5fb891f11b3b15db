"""The hash of a transfer, over the hash before it and its other fields: change one, and all after it differ. Pure.

Each row names the format that it was hashed by, so a field can be added without touching stored rows: give the new
field a format, and the next transfer of every account is hashed by that one.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from abacus.ledger.types.transfer import TransferBody

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_EXPLANATION: Final = 11  # its place in a transfer's body
_VESTS_ON: Final = 16
_VESTS_AT: Final = 17
_OF_FORMAT_1: Final = 13  # how many of `_facts` the hash covers
_OF_FORMAT_2: Final = 15

CURRENT: Final = 3  # the format of new transfers
VESTING: Final = 4  # of those with a day on which their points vest


class UnknownFormat(Exception):
    """The row has a format that this version does not know."""


def chain(previous: bytes, body: TransferBody) -> bytes:
    """The hash of a transfer, by its own format. Raises `UnknownFormat`."""
    text_of = FORMATS.get(body[-1])
    if text_of is None:
        raise UnknownFormat(f"format {body[-1]}; this version knows {', '.join(map(str, FORMATS))}")
    if body[_VESTS_AT] is not None or body[_VESTS_ON] is not None:
        text_of = _with_vesting  # a row of an earlier format has no such day
    return hashlib.sha256(previous + text_of(body)).digest()


def _facts(body: TransferBody) -> list[object]:
    """All that a hash of format 3 covers besides the explanation, the oldest fields first."""
    (
        member_id,
        program,
        seq,
        kind,
        points,
        balance_after,
        key,
        country,
        occurred_at,
        posted_at,
        expires_on,
        _explanation,
        reverses,
        actor,
        source,
        lifetime,
        _vests_on,
        _vests_at,
        format_,
    ) = body
    return [
        member_id,
        program,
        seq,
        kind,
        points,
        balance_after,
        key,
        country,
        (occurred_at - _EPOCH) // _MICROSECOND,
        (posted_at - _EPOCH) // _MICROSECOND,
        expires_on,
        reverses,
        actor,
        source,
        format_,
        lifetime,
    ]


def _first(body: TransferBody) -> bytes:
    """The format of rows without a source."""
    return orjson.dumps(_facts(body)[:_OF_FORMAT_1]) + body[_EXPLANATION]


def _with_source(body: TransferBody) -> bytes:
    return orjson.dumps(_facts(body)[:_OF_FORMAT_2]) + body[_EXPLANATION]


def _with_lifetime(body: TransferBody) -> bytes:
    return orjson.dumps(_facts(body)) + body[_EXPLANATION]


def _with_vesting(body: TransferBody) -> bytes:
    vests_at = body[_VESTS_AT]
    moment = None if vests_at is None else (vests_at - _EPOCH) // _MICROSECOND
    return orjson.dumps([*_facts(body), body[_VESTS_ON], moment]) + body[_EXPLANATION]


# The text that is hashed, by format. A format is never changed once rows have it.
FORMATS: Final[dict[int, Callable[[TransferBody], bytes]]] = {
    1: _first,
    2: _with_source,
    3: _with_lifetime,
    4: _with_vesting,
}
