"""A thing that is looked for, and the places where it is. Pure values."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Station(StrEnum):
    """A place on the way from the stream to the ledger."""

    LEDGER = "ledger"
    REJECTED = "rejected"
    PARTNERS = "partners' register"
    QUARANTINE = "quarantine"
    DEAD_LETTERS = "dead letters"
    STREAM = "stream"


class Sighting(NamedTuple):
    """It is there, or was, since that time; `why` is a line for people. `about`: the member, the partner or the item
    that it belongs to, as subjects of the log are written.
    """

    place: Station
    key: str | None
    at: datetime | None
    why: str
    about: str | None = None
