"""A person, its roles and its tokens, who gave them, and who acts. Pure values."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.core.sources import Agent, login_source, person_source


class Role(StrEnum):
    """What a person is to the house. `decide/rights.py` says which deeds each role allows."""

    VIEWER = "viewer"
    SUPPORT = "support"
    COUNTRY_EDITOR = "country_editor"
    APPROVER = "approver"
    FINANCE = "finance"
    OPERATOR = "operator"
    ADMIN = "admin"


class Grant(NamedTuple):
    """A role in one country; without a country, in all of them. Written as `support:SG` and `admin`."""

    role: Role
    country: str | None = None

    def __str__(self) -> str:
        return self.role if self.country is None else f"{self.role}:{self.country}"


class Person(NamedTuple):
    """A person of the house."""

    person_id: str
    grants: tuple[Grant, ...]
    created_at: datetime
    created_by: str  # the source that did it
    disabled_at: datetime | None


class PersonToken(NamedTuple):
    """A personal token as the database keeps it."""

    prefix: str
    person_id: str
    digest: bytes
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None

    def holds(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.expires_at


class Registered(NamedTuple):
    """A person with its tokens, the newest first."""

    person: Person
    tokens: tuple[PersonToken, ...]


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


class Actor(NamedTuple):
    """A person or a login that acts. `grants` is None for a login: the machine gave its name, and it is no identity."""

    name: str
    grants: tuple[Grant, ...] | None

    @property
    def is_authenticated(self) -> bool:
        return self.grants is not None

    @property
    def source(self) -> str:
        """`person:ann`, or `login:root@host`: two actors are the same exactly when their sources are."""
        return person_source(self.name) if self.is_authenticated else login_source(self.name)

    @property
    def agent(self) -> Agent:
        """The agent of its movements."""
        return Agent(self.name, self.source)
