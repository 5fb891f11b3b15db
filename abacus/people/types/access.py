"""Who gave whom a way to act here. Pure values."""

from datetime import datetime
from typing import NamedTuple


class Access(NamedTuple):
    """Somebody entered a person, or gave it roles or something to prove itself by. `by` and `to` are sources."""

    by: str
    to: str
    did: str
    at: datetime


class Tie(NamedTuple):
    """Why a person is not independent of the asker: the access that it has from there, and when that will be long
    enough ago.
    """

    given: tuple[Access, ...]
    until: datetime
