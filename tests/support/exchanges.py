"""Exchanges for tests: programmes, what is published around them, partners, and the desk of links."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from abacus.cli.examples import example_cards
from abacus.core.clock import Clock
from abacus.documents.stated import Change
from abacus.engage.notify.decide.news import ExchangeCode
from abacus.engage.notify.decide.notice import Notice
from abacus.exchanges.decide.heard import Heard, Silence
from abacus.exchanges.decide.link import Attempts, Link, number_digest
from abacus.exchanges.decide.programme import Programme, SignIn
from abacus.exchanges.decide.programme_reader import parse_programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.kind import PROGRAMMES
from abacus.exchanges.link_desk import LinkDesk
from abacus.exchanges.link_store import Asked, LinkStore
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.publications import exchange_publications
from abacus.exchanges.types import Account, Match, PartnerStatement, SignInPort, Transfer
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from tests.support.agreed import agree

NOW: Final = datetime.now(UTC).replace(microsecond=0)
DAY: Final = timedelta(days=1)
LINK_ID: Final = UUID(int=42)
SECRETS: Final = Secrets.of(new_keyring_text("one"))
CARDS: Final = {card.scope: PublishedCard(card, 1) for card in example_cards()}
SKYMILES: Final[Mapping[str, Any]] = {
    "name": "skymiles",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": (NOW - 40 * DAY).isoformat(),
    "ends_at": (NOW + 30 * DAY).isoformat(),
    "partner": "skyline",
    "program": "GRP",
    "unit": "miles",
    "out": {"give": 5, "get": 2, "minimum": 1000, "multiple": 500, "maximum": 100_000, "price": "0.012"},
    "in": {"give": 2, "get": 3, "minimum": 1000, "multiple": 100, "maximum": 50_000, "price": "0.004"},
    "carrier": {"url": "https://loyalty.skyline.example/abacus"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
}


def around(now: datetime = NOW) -> ExchangePublications:
    return ExchangePublications(now=now, cards=CARDS, partners={"skyline"}, segments={"regulars"})


def programme(**changed: Any) -> Programme:
    """A programme that is in force."""
    return parse_programme({**SKYMILES, **changed}, around()).numbered(1)


def a_partner(name: str, clock: Clock) -> Partner:
    """A partner that may award by transactions."""
    return Partner(
        partner_id=name,
        name=name.title(),
        fixed_points=False,
        computed_points=True,
        countries=(),
        card_scope=None,
        requests_per_minute=600,
        signing_secret=None,
        created_at=clock.now(),
        created_by="person:ann",
        disabled_at=None,
    )


async def enter_partner(pool: Pool, clock: Clock, name: str = "skyline") -> None:
    """A partner whose programmes can be published."""
    await PartnerStore(pool, clock).create(a_partner(name, clock), Limits(), LIVE_KEY.new())


async def run_programme(pool: Pool, document: Mapping[str, Any] = SKYMILES) -> Programme:
    """Publishes a version and approves it. The partner and the card of its country have to be there."""
    published, store = await exchange_publications(pool, NOW, to_private=True), ProgrammeStore(pool)
    (submitted,) = await store.publish([parse_programme(document, published)], published, Change("person:ann", NOW))
    named = submitted.document
    approval = Change("person:ann", NOW, approved_by="person:eve")
    return (await store.approve(named.name, named.version, published, approval)).document


async def agree_on_programme(pool: Pool, document: Mapping[str, Any]) -> Programme:
    """The same by way of an approval, which is kept."""
    published, store = await exchange_publications(pool, NOW, to_private=True), ProgrammeStore(pool)
    draft = parse_programme(document, published)
    made: Programme = await agree(pool, PROGRAMMES, store, draft, published, approved_at=NOW)
    (found,) = await store.find([(made.name, made.version)])
    return found.document


async def enter_link(pool: Pool, clock: Clock, member: str, link_id: UUID = LINK_ID) -> Link:
    """A member asks to link an account at the programme."""
    store, account = LinkStore(pool, SECRETS), Account("SKY 1234 5678")
    digest = number_digest(await store.key(), "skymiles", account.number)
    asked = Asked(link_id, "skymiles", "skyline", member, digest, None, None)
    return await store.ask(asked, account, "partner:app", clock.now())


class AskedPartner:
    """A partner that says of each account what it is told to say, and remembers which it was asked about."""

    def __init__(self, says: Match = Match.MATCH) -> None:
        self.says = says
        self.asked: list[Account] = []

    async def verify(self, account: Account) -> Match:
        self.asked.append(account)
        return self.says

    async def put(self, transfer: Transfer) -> Heard:
        return Silence(f"nobody carries {transfer.exchange_id}")

    async def get(self, exchange_id: UUID) -> Heard:
        return Silence(f"nobody asks for {exchange_id}")

    async def cancel(self, exchange_id: UUID) -> Heard:
        return Silence(f"nobody cancels {exchange_id}")

    async def reverse(self, exchange_id: UUID) -> Heard:
        return Silence(f"nobody takes back {exchange_id}")

    async def statement(self, day: date) -> PartnerStatement:
        return PartnerStatement(day, complete=False, lines=[])


class Told:
    """Keeps what members are told."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> None:
        assert gathered_for == timedelta(0), "a code waits for no other news"
        self.notices += notices

    @property
    def code(self) -> str:
        """That was told last."""
        news = self.notices[-1].news
        assert isinstance(news, ExchangeCode)
        return news.code


def linking(
    pool: Pool,
    clock: Clock,
    *programmes: Programme,
    partner: AskedPartner | None = None,
    told: Told | None = None,
    attempts: Attempts | None = None,
    secrets: Secrets = SECRETS,
    sign_in_of: Callable[[Programme, SignIn], SignInPort] | None = None,
) -> LinkDesk:
    """The desk of links, with these programmes in force."""
    in_force = Programmes(InForce(each, around()) for each in programmes)
    return LinkDesk(
        LinkStore(pool, secrets),
        clock,
        lambda: in_force,
        lambda _: partner or AskedPartner(),
        Told() if told is None else told,
        attempts=attempts or Attempts(),
        sign_in_of=sign_in_of or _nobody_signs_in,
    )


def _nobody_signs_in(programme: Programme, _: SignIn) -> SignInPort:
    raise AssertionError(f"nobody signs in at {programme.partner}")
