"""An entry of the log with its place in the chain. Pure values."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID


class Chained(NamedTuple):
    """A row of the log. `salt`, subject and details come to `body`; an erasure takes the names and the salt away, and
    keeps the body, so that the hash still follows. `state` is what `stated` was when the entry's transaction ended.
    """

    number: int | None
    hash: bytes | None
    entry_id: UUID
    at: datetime
    actor: str
    authenticated: bool
    deed: str
    subject: str
    country: str | None
    details: bytes
    salt: UUID | None
    body: bytes | None
    of_before: bool
    stated: str | None
    state: bytes | None


class LogHead(NamedTuple):
    """The end of the chain: how many entries it has, and the hash of the last."""

    entries: int = 0
    hash: bytes = b""
