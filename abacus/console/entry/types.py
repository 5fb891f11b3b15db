"""The words of letting people in: session, link, way, and the tokens of each. Pure values."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.core.tokens import TokenForm


class Way(StrEnum):
    """How a person proved who it is."""

    PASSWORD = "password"  # noqa: S105  # the word, and none of them
    LINK = "link"
    PROVIDER = "provider"


class Session(NamedTuple):
    """One browser of one person. `prefix` names it; the rest of its token is kept as a digest alone."""

    prefix: str
    person_id: str
    digest: bytes
    way: str
    started_at: datetime
    seen_at: datetime
    zone: str
    address: str
    browser: str
    ended_at: datetime | None
    ended_by: str | None


class SessionLimits(NamedTuple):
    """A session ends when nobody used it for so long, and after so long in any case."""

    idle: timedelta
    whole: timedelta


class Link(NamedTuple):
    """An address that lets one person in once."""

    prefix: str
    person_id: str
    digest: bytes
    made_at: datetime
    made_by: str
    expires_at: datetime
    used_at: datetime | None


class Visitor(NamedTuple):
    """What a browser tells of itself."""

    address: str
    browser: str
    zone: str


@dataclass(frozen=True)
class Address:
    """Where browsers reach the console. `behind_proxy`: the last address that a proxy names is the browser's."""

    public_url: str
    behind_proxy: bool = False

    @property
    def is_secure(self) -> bool:
        return self.public_url.startswith("https://")


SESSION_TOKEN: Final = TokenForm("abs_")  # the cookie of a person who is in
LINK_TOKEN: Final = TokenForm("abl_")  # in an address that lets in once
VISIT_TOKEN: Final = TokenForm("abv_")  # the cookie of a browser on its way in; kept nowhere
