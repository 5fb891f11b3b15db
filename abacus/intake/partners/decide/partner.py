"""A partner, its rights and its keys. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple, TypedDict

from abacus.core.errors import Refused
from abacus.core.fields import Fault
from abacus.core.ids import NAME_PATTERN
from abacus.core.sources import Agent, partner_source
from abacus.core.tokens import TokenForm, new_secret_text

_PARTNER_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_REQUESTS_PER_MINUTE: Final = 1_000_000
# How commands call the fields that may be wrong.
_OPTIONS: Final = {
    "name": "name",
    "countries": "country",
    "sources": "source",
    "requests_per_minute": "requests-per-minute",
}


class Partner(NamedTuple):
    """A partner's rights, by kind and country. Its limits are in the ledger (`abacus.ledger.decide.allowance`)."""

    partner_id: str
    name: str
    fixed_points: bool
    computed_points: bool
    countries: tuple[str, ...]  # none named: every country that has a rate card
    card_scope: str | None
    requests_per_minute: int
    signing_secret: str | None  # as it is stored: perhaps encrypted
    created_at: datetime
    created_by: str
    disabled_at: datetime | None
    may_spend: bool = False  # spend, hold and capture members' points
    may_adjust: bool = False  # add and take points in a person's name, and take back the transfers of others
    may_see_others: bool = False  # read others' transfers whole, and serve members to whom it gave nothing
    may_count: bool = False  # read counters
    may_read_members: bool = False  # see the points of members whose points it has not moved
    may_use_offers: bool = False  # ask for members' offers, and take them
    may_explain_offers: bool = False  # be told why offers fail, which betrays tiers and segments of members
    may_load_places: bool = False  # load places and regions of its countries
    may_send_positions: bool = False  # say where members are
    may_exchange: bool = False  # bring its members' points, which become the house's
    sources: tuple[str, ...] | None = ()  # it may name them beside its own id; None, from before there were any: all

    @property
    def source(self) -> str:
        """The source of its awards."""
        return partner_source(self.partner_id)

    @property
    def agent(self) -> Agent:
        """The agent of its movements."""
        return Agent(self.partner_id, self.source)

    def owns(self, source: str | None) -> bool:
        """Whether a transfer from this source is its own. A name is no proof: a person may be called like a partner."""
        return source == self.source

    def may_see(self, source: str | None) -> bool:
        """Whether it is told key, actor and explanation of a transfer from this source."""
        return self.may_see_others or self.owns(source)

    @property
    def reads_all(self) -> bool:
        """Whether it is told the points of any member in its countries: taking points needs them."""
        return self.may_read_members or self.may_spend or self.may_see_others

    def may_award_in(self, country: str) -> bool:
        return not self.countries or country in self.countries

    def may_name(self, source: str) -> bool:
        """Whether it may send transactions of that source."""
        return self.sources is None or source == self.partner_id or source in self.sources

    def scope_in(self, country: str) -> str:
        """The scope of the rate card for its awards in that country."""
        return self.card_scope or country


class RightsChange(TypedDict, total=False):
    """Rights of a partner that are to be others from now on; a right that is not named stays as it is."""

    name: str
    fixed_points: bool
    computed_points: bool
    countries: tuple[str, ...]
    card_scope: str | None
    requests_per_minute: int
    may_spend: bool
    may_adjust: bool
    may_see_others: bool
    may_count: bool
    may_read_members: bool
    may_use_offers: bool
    may_explain_offers: bool
    may_load_places: bool
    may_send_positions: bool
    may_exchange: bool
    sources: tuple[str, ...]


class PartnerKey(NamedTuple):
    """A key as the database keeps it."""

    prefix: str
    partner_id: str
    digest: bytes
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    def holds(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


def is_partner_id(text: str) -> bool:
    return _PARTNER_ID.fullmatch(text) is not None


def faults_of(partner: Partner) -> Iterator[Fault]:
    """What makes no sense, by the field."""
    if not is_partner_id(partner.partner_id):
        yield Fault("partner_id", f"{partner.partner_id!r}: an id has 1 to 40 small letters, digits and hyphens")
    if not partner.name.strip():
        yield Fault("name", "say who the partner is")
    may = partner.fixed_points, partner.computed_points, partner.may_count, partner.may_use_offers
    if not any((*may, partner.may_load_places, partner.may_send_positions, partner.may_exchange)):
        needs = "fixed points, computed points, counters, offers, places, positions, or exchanges"
        none = f"a partner that may do nothing: it needs {needs}"
        yield Fault("may", none)
    for country in partner.countries:
        if not re.fullmatch(r"[A-Z]{2}", country):
            yield Fault("countries", f"{country!r} is not a country; write two capitals (SG)")
    for source in partner.sources or ():
        if not re.fullmatch(NAME_PATTERN, source):
            yield Fault("sources", f"{source!r} is not a source; it has letters, digits, dots, hyphens (rides)")
    if not 1 <= partner.requests_per_minute <= MOST_REQUESTS_PER_MINUTE:
        yield Fault("requests_per_minute", f"between 1 and {MOST_REQUESTS_PER_MINUTE}")


def checked(partner: Partner) -> Partner:
    """Raises `Refused` for a partner that makes no sense, with the option of the commands."""
    for path, message in faults_of(partner):
        option = _OPTIONS.get(path)
        raise Refused(message if option is None else f"--{option}: {message}")
    return partner


LIVE_KEY: Final = TokenForm("abk_live_")
TEST_KEY: Final = TokenForm("abk_test_")


def new_signing_secret() -> str:
    return f"abs_{new_secret_text()}"
