"""What is done in the house that a role has to allow, and the log's record of it in its chain. Pure values."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class Deed(StrEnum):
    """What somebody may be allowed to do. `decide/rights.py` says which roles allow it."""

    SEE = "see"
    SIGN_IN = "sign-in"  # to the console, and out
    ADJUST = "adjust"
    REVERSE = "reverse"
    MOVE_POINTS = "move-points"  # spend, hold, capture and release
    SET_TIERS = "set-tiers"
    EDIT_RATES = "edit-rates"
    PUBLISH_RATES = "publish-rates"
    PUBLISH_SOURCES = "publish-sources"
    PUBLISH_COUNTERS = "publish-counters"  # and retire them
    EDIT_CAMPAIGNS = "edit-campaigns"  # draft, submit, pause, resume and end them
    EDIT_OFFERS = "edit-offers"  # the same, invite members to them, and publish categories
    EDIT_REWARDS = "edit-rewards"  # draft, submit, pause, resume and end them, and load their codes
    EDIT_EXCHANGES = "edit-exchanges"  # draft, submit, pause, resume and end programmes with partners
    EDIT_JOURNEYS = "edit-journeys"  # draft, submit, pause, resume and end them
    EDIT_PLACES = "edit-places"  # load regions and places, and publish maps
    PUBLISH_DOWNSTREAMS = "publish-downstreams"  # and test, retire and rotate their secrets
    PUBLISH_CONTACT = "publish-contact"  # policies of contact: caps, quiet hours and holdouts
    PUBLISH_SEGMENTS = "publish-segments"  # and change or drop them
    EDIT_PARTNERS = "edit-partners"
    EDIT_LIMITS = "edit-limits"
    APPROVE = "approve"
    CLOSE_BOOKS = "close-books"
    SET_ASSUMPTIONS = "set-assumptions"
    EXPIRE = "expire-points"  # run the ends of months
    SEAL = "seal"  # the ledger
    RUN_JOBS = "run-jobs"
    REPLAY = "replay"  # the quarantine, dead letters, the points stream, and what did not arrive
    IMPORT = "import"
    ERASE = "erase"
    MANAGE_PEOPLE = "manage-people"


class Entry(NamedTuple):
    """An entry of the log: who did what to what. `actor` is a source; `details` is JSON."""

    entry_id: UUID
    at: datetime
    actor: str
    authenticated: bool
    deed: str
    subject: str
    country: str | None
    details: bytes


class Chained(NamedTuple):
    """A row of the log. `salt`, and the entry's subject and details, come to `body`; an erasure takes the names and the
    salt away, and keeps the body, so that the hash still follows. `state` is what `stated` was when the entry's
    transaction ended.
    """

    entry: Entry
    number: int | None
    hash: bytes | None
    salt: UUID | None
    body: bytes | None
    of_before: bool
    stated: str | None
    state: bytes | None


class LogHead(NamedTuple):
    """The end of the chain: how many entries it has, and the hash of the last."""

    entries: int = 0
    hash: bytes = b""
