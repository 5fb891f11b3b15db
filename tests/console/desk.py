"""What the tests of the console share: a console on a real database, people with passwords, browsers, and a clock."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any, Final

import httpx
from argon2 import PasswordHasher

from abacus.approving.card_desk import CardDesk
from abacus.approving.contact_desk import ContactDesk
from abacus.approving.executors import approving
from abacus.console.app import SERVED, console_app
from abacus.console.drafts.store import DraftStore
from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.decide.claims import ClaimRules
from abacus.console.entry.desk import PeopleDesk
from abacus.console.entry.door import Attempts, Door
from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.console.entry.provider import Client, Provider
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.types import Address, SessionLimits
from abacus.console.errands.store import ErrandStore
from abacus.console.premises import Premises
from abacus.console.read_side import Replica, reading_of
from abacus.console.selections.store import SelectionStore
from abacus.console.watch.store import WatchStore
from abacus.console.web.parts import Outages
from abacus.console.web.routes import Served
from abacus.engage.asking.facts import KnownMembers
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.categories.kind import category_desk
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import Allowed
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.entry_desk import EntryDesk
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.renderer import rendering
from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.members import Members
from abacus.engage.offers.preview import OfferPreview
from abacus.engage.offers.till_wiring import offer_returns
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.preview import RewardPreview
from abacus.engage.rewards.wiring import returns_desk
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.link_desk import kept_links
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.wiring import exchange_deeds
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import STANDING
from abacus.ledger.types.limits import Alone, Limits
from abacus.ledger.types.movement import Moved, Movement
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.status.sources import Places
from abacus.people.decide.names import parse_grants
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Role
from abacus.platform.encryption import Keyring, Secrets, new_keyring_text
from abacus.platform.health import Health
from abacus.platform.postgres import Pool, nothing_else
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.reading.caches import Caches
from abacus.platform.rooms import Rooms
from abacus.pricing.store.cards import CardReader, CardStore
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.kind import Reserved, SourceDesk
from abacus.signals.facts.types import FactRegistry
from abacus.signals.places.kind import MapDirectory, map_desk
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.sets import segment_sets
from tests.support.staff import ADMIN

PASSWORD: Final = "correct horse battery"
URL: Final = "http://console.example"
SOURCES: Final = tuple(built_in(transactions_topic="t", points_topic="p", tiers_topic="x"))
_QUICK: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_TOKEN: Final = re.compile(r'name="form" value="([^"]+)"')
_FORM: Final = re.compile(r'<form method="post" action="([^"]+)".*?</form>', re.DOTALL)


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def pass_(self, **span: float) -> None:
        self._now += timedelta(**span)


@dataclass(frozen=True)
class Desk:
    """A console, and how to get people into it."""

    premises: Premises
    clock: Clock
    pool: Pool
    passwords: Passwords
    authenticators: Authenticators
    links: Links
    url: str
    app: Any
    _stack: AsyncExitStack

    @property
    def rooms(self) -> Rooms:
        return self.premises.rooms

    async def browser(self, address: str = "192.0.2.1") -> "Browser":
        transport = httpx.ASGITransport(app=self.app, client=(address, 4711))
        client = httpx.AsyncClient(transport=transport, base_url=self.url, headers={"Accept": "text/html"})
        return Browser(await self._stack.enter_async_context(client))

    async def hire(self, person_id: str, *roles: str, password: str = PASSWORD) -> None:
        await self.premises.rooms[PeopleStore].create(person_id, parse_grants(roles), by=ADMIN, also=nothing_else)
        await self.passwords.set(person_id, password, by=ADMIN.source, also=nothing_else)
        await self.refresh()

    async def refresh(self) -> None:
        await self.premises.rooms[PeopleDirectory].refresh()

    async def partner(self, partner_id: str, name: str = "Acme") -> None:
        made = Partner(partner_id, name, True, True, (), None, 1000, None, self.clock.now(), "tests", None)  # noqa: FBT003  # as stored
        await self.premises.rooms[PartnerStore].create(made, Limits(per_day=500), LIVE_KEY.new())

    async def inside(self, person_id: str, *roles: str) -> "Browser":
        """A browser of a new person who is in."""
        await self.hire(person_id, *roles)
        browser = await self.browser()
        assert (await browser.sign_in(person_id)).status_code == 303
        return browser


@dataclass(frozen=True)
class Browser:
    """A browser: it keeps cookies, and fills in forms as they are on the page."""

    client: httpx.AsyncClient

    async def see(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def twin(self, path: str) -> httpx.Response:
        """The same page as JSON."""
        return await self.client.get(path, headers={"Accept": "application/json"})

    async def send(self, page: str, action: str, **typed: str) -> httpx.Response:
        """Fill in the form of the page that is sent to this path, and send it."""
        return await self._send(page, action, "text/html", typed)

    async def send_for_twin(self, page: str, action: str, **typed: str) -> httpx.Response:
        """The answer as JSON."""
        return await self._send(page, action, "application/json", typed)

    async def _send(self, page: str, action: str, accept: str, typed: dict[str, str]) -> httpx.Response:
        shown = await self.client.get(page)
        for form in _FORM.finditer(shown.text):
            if unescape(form[1]) == action:
                hidden = {name: unescape(value) for name, value in _HIDDEN.findall(form[0])}
                return await self.client.post(action, data=hidden | typed, headers={"Accept": accept})
        raise AssertionError(f"{page} has no form for {action}: {shown.status_code}")

    async def do(self, page: str, **fields: str) -> httpx.Response:
        """Fill in the form of a deed, and confirm what it shows then."""
        looked = await self.send(page, page, **{f"doc.{name}": text for name, text in fields.items()})
        return await self.confirm(looked, sure="do") if looked.status_code == 200 else looked

    async def confirm(self, shown: httpx.Response, **typed: str) -> httpx.Response:
        """Send the form that an answer shows, to where that answer came from."""
        form = next(each for each in _FORM.finditer(shown.text) if unescape(each[1]) in str(shown.url))
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(form[0])}
        return await self.client.post(unescape(form[1]), data=hidden | typed)

    async def submit(self, page: str, action: str, text: str) -> httpx.Response:
        """Submit a draft by the page that shows it once more."""
        shown = (await self.send_for_twin(page, action, text=text, shown=text, act="submit")).json()
        if not shown.get("review"):
            return await self.send(page, action, text=text, shown=text, act="submit")
        text = shown["draft"]["text"]
        return await self.send(page, action, text=text, shown=text, act="submit", digest=shown["digest"])

    async def sign_in(
        self, person_id: str, password: str = PASSWORD, code: str = "", next_: str = "/"
    ) -> httpx.Response:
        page = f"/sign-in?next={next_}"
        return await self.send(page, "/sign-in", person=person_id, password=password, code=code)


def token_in(text: str) -> str:
    """What the forms of a page carry."""
    found = _TOKEN.search(text)
    assert found is not None
    return found[1]


@asynccontextmanager
async def desk(
    pool: Pool,
    *,
    url: str = URL,
    idle: timedelta = timedelta(hours=1),
    whole: timedelta = timedelta(hours=12),
    code_for: tuple[Role, ...] = (),
    attempts: Attempts | None = None,
    issuer: str | None = None,
    reading: ClaimRules | None = None,
    behind_proxy: bool = False,
    replica: Replica | None = None,
    more: Sequence[Served] = (),
    beside: Callable[[Clock], Sequence[object]] = lambda _: (),
) -> AsyncIterator[Desk]:
    """`more` are pages, and `beside` the rooms that they ask, of a kind that the house does not have."""
    clock = Clock(datetime.now(UTC))
    people, sessions = PeopleStore(pool, clock), SessionStore(pool, clock, SessionLimits(idle, whole))
    directory = PeopleDirectory(people, clock)
    passwords, links = Passwords(pool, clock, _QUICK), Links(pool, clock)
    secrets = Secrets(Keyring.parse(new_keyring_text("k1")))
    authenticators = Authenticators(pool, clock, secrets)
    limiter = RateLimiter(BucketStore(pool), clock, apart="console:")
    cards = CardReader(CardStore(pool).all, may_be_empty=True)
    moves = PostgresMoves(pool, clock)

    async def move(movement: Movement) -> Moved:
        (moved,) = await moves.move([movement])
        return moved

    admission = Admission(segment_sets(pool).look, FactRegistry(KnownMembers()))
    deliveries = Deliveries(pool, moves, cards.book, clock)
    members = Members(pool, standing=STANDING, clock=clock, caches=Caches(clock))
    large = approving(pool, clock, move, Alone(10, 10), SOURCES)
    maps, regions = MapDirectory(pool), RegionDirectory(pool)
    for each in (maps, regions):
        await each.refresh()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(limiter.close)
        stack.push_async_callback(members.close)
        providers = []
        if issuer is not None and reading is not None:
            client = Client(issuer, "abacus", "hush", f"{url}/sign-in/provider/back")
            providers.append(Provider(client, reading, clock))
            stack.push_async_callback(providers[0].close)
        renderer = await stack.enter_async_context(rendering())
        premises = Premises(
            address=Address(url, behind_proxy=behind_proxy),
            clock=clock,
            pool=pool,
            outages=Outages(clock),
            door=Door(
                people=directory,
                store=people,
                sessions=sessions,
                passwords=passwords,
                authenticators=authenticators,
                links=links,
                limiter=limiter,
                clock=clock,
                code_for=code_for,
                attempts=attempts,
            ),
            sessions=sessions,
            here=reading_of(pool, clock, cards),
            erases=True,
            replica=replica,
            rooms=Rooms(
                directory,
                people,
                PeopleDesk(people, clock, passwords=passwords, links=links, authenticators=authenticators, address=url),
                large.approvals,
                large,
                QuarantineStore(pool, clock),
                SelectionStore(pool, clock),
                DraftStore(pool),
                cards,
                CardDesk(pool, clock, large.approvals),
                OfferDesk(pool, clock, large.approvals),
                CodeDesk(pool, clock, secrets),
                category_desk(pool, clock),
                ContactDesk(pool, clock, large.approvals),
                map_desk(pool, clock),
                maps,
                regions,
                RegionDesk(pool, clock, large.approvals),
                PlaceDesk(pool, clock),
                OfferPreview(pool, cards.book, members=members, facts=FactRegistry()),
                RewardDesk(pool, clock, large.approvals),
                RewardPreview(pool, cards.book, admission=admission, deliveries=deliveries),
                returns_desk(pool, clock, moves, cards.book),
                offer_returns(pool, clock),
                ProgrammeDesk(pool, clock, large.approvals, to_private=False),
                kept_links(LinkStore(pool, secrets), clock, Notices(pool, clock)),
                exchange_deeds(pool, clock, moves, cards.book),
                CampaignDesk(pool, clock, SOURCES, large.approvals, renderer),
                JourneyDesk(pool, clock, SOURCES, large.approvals, renderer),
                EntryDesk(pool, clock),
                Places(pool, None, None, "abacus-", "abacus.points.v1", [], ("calculator", "awarder")),
                WatchStore(pool),
                PartnerStore(pool, clock),
                WebhookDesk(WebhookStore(pool, clock), to_private=False),
                ErrandStore(pool, clock),
                CounterDesk(pool, clock, SOURCES),
                SourceDesk(pool, clock, Reserved(SOURCES, "abacus.events.v1")),
                DownstreamDesk(pool, clock, Allowed(to_private=False), Secrets.of(None)),
                SegmentDesk(pool, clock),
                accounts_desk(pool, clock),
                *providers,
                *beside(clock),
            ),
        )
        await directory.refresh()
        yield Desk(
            premises,
            clock,
            pool,
            passwords,
            authenticators,
            links,
            url,
            console_app(premises, Health(["console"]), [*SERVED, *more]),
            stack,
        )
