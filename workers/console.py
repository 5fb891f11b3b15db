"""Serves the pages of the house's people, with the probes of its process, on ABACUS_CONSOLE_HOST and …_PORT."""

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple

import structlog
from starlette.types import ASGIApp

from abacus.api.entrance import Entrance
from abacus.api.server import bound
from abacus.api.wiring import http_limits
from abacus.approving.card_desk import CardDesk
from abacus.approving.wiring import large_moves
from abacus.bootstrap import Service
from abacus.console.app import console_app
from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.decide import vouching
from abacus.console.entry.door import Door
from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.console.entry.provider import Client as OidcClient
from abacus.console.entry.provider import Provider
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.types import SessionLimits
from abacus.console.errands.runner import ErrandRunner
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Room
from abacus.console.outages import Outages
from abacus.console.pages.operations.watched import Watched
from abacus.console.pages.people.sign_in import BACK
from abacus.console.premises import Address, Premises
from abacus.console.reading import Reading, Replica, reading_of
from abacus.console.selections.store import SelectionStore
from abacus.console.tidying import keep_tidying
from abacus.core.errors import Refused, Unavailable
from abacus.engage.campaigns.wiring import campaign_desk
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Moved, Movement
from abacus.oversight.status.wiring import groups_of
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Role
from abacus.platform.logins import console_login
from abacus.platform.patience import until_available
from abacus.platform.postgres import DEPENDENCY, Pool, open_pool, ping
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.rooms import Rooms
from abacus.platform.settings import Settings
from abacus.platform.sqs.queue import Client
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.signals.counters.store.opened_store import open_store
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.wiring import cassandra_of
from workers import PIPELINE

NEEDS: Final = frozenset({Service.DATABASE})
USES: Final = frozenset({Service.KAFKA, Service.SQS})  # where they are set; what is not is shown as not looked at
DATABASE_WITHIN_S: Final = 5.0
_QUEUES_WITHIN_S: Final = 3.0
_CONNECTIONS: Final = 8
_PROBE_EVERY_S: Final = 1.0
_NOT_TOLD: Final = frozenset(
    {"ABACUS_CONSOLE_DATABASE_URL", "ABACUS_CONSOLE_OWNER_DATABASE_URL", "ABACUS_PEOPLE_DATABASE_URL"}
)
_HERE: Final = frozenset({"127.0.0.1", "::1", "localhost"})

log = structlog.get_logger(__name__)


class Plan(NamedTuple):
    """What the settings say about letting people in."""

    address: Address
    limits: SessionLimits
    code_for: tuple[Role, ...]
    client: OidcClient | None
    reading: vouching.Reading


def plan_of(settings: Settings) -> Plan:
    """Raises `Refused` with the setting that is wrong, or missing beside another."""
    public_url = settings.console_public_url or f"http://{settings.console_host}:{settings.console_port}"
    try:
        groups = vouching.read_groups(settings.console_oidc_groups)
    except (ValueError, Refused) as fault:
        raise Refused(f"ABACUS_CONSOLE_OIDC_GROUPS: {fault}") from None
    return Plan(
        Address(public_url, behind_proxy=settings.console_behind_proxy),
        SessionLimits(
            timedelta(minutes=settings.console_idle_minutes), timedelta(hours=settings.console_session_hours)
        ),
        _roles(settings.console_code_for or ""),
        _client(settings, public_url),
        vouching.Reading(settings.console_oidc_id_claim, settings.console_oidc_groups_claim, groups),
    )


async def wire(wiring: Wiring) -> Run:
    settings, plan = wiring.settings, plan_of(wiring.settings)
    listener = bound(settings.console_host, settings.console_port, "ABACUS_CONSOLE_HOST and ABACUS_CONSOLE_PORT")
    if not plan.address.is_secure and settings.console_host not in _HERE:
        log.warning("cookies of the console go over plain http: ABACUS_CONSOLE_PUBLIC_URL names no https address")
    entrance = Entrance(wiring.process_health)

    async def run(stop: asyncio.Event) -> None:
        await entrance.serve(_opened(wiring, plan), listener, stop, http_limits(settings))

    return run


async def _opened(wiring: Wiring, plan: Plan) -> ASGIApp:
    login = console_login(wiring.settings.console_database_url)
    pool = await wiring.pool(size=_CONNECTIONS, keeps_nothing=True, within_s=DATABASE_WITHIN_S, login=login)
    outages = Outages(wiring.clock)
    premises = await _premises(wiring, plan, pool, outages)
    wiring.beside(_watch(wiring, pool, outages))
    return console_app(premises, wiring.process_health)


async def _premises(wiring: Wiring, plan: Plan, pool: Pool, outages: Outages) -> Premises:
    clock, settings = wiring.clock, wiring.settings
    store, sessions = PeopleStore(pool, clock), SessionStore(pool, clock, plan.limits)
    directory, cards = wiring.keep(PeopleDirectory(store, clock)), cards_in_use(wiring, pool)
    await until_available(directory.refresh, wiring.health)
    door = Door(
        people=directory,
        store=store,
        sessions=sessions,
        passwords=Passwords(pool, clock),
        authenticators=Authenticators(pool, clock, wiring.secrets()),
        links=Links(pool, clock),
        limiter=wiring.limiter(pool, apart="console:"),
        clock=clock,
        code_for=plan.code_for,
    )
    moves = PostgresMoves(pool, clock)

    async def move(movement: Movement) -> Moved:
        (moved,) = await moves.move([movement])
        return moved

    cassandra = cassandra_of(settings)
    counters, _ = await wiring.entered(open_store(cassandra, pool, clock))
    large = large_moves(wiring, pool, move)
    errands = ErrandStore(pool, clock, Room(settings.console_errands_open, settings.console_errands_per_hour))
    wiring.beside(ErrandRunner(errands, *environments(settings)).keep_running())
    wiring.beside(keep_tidying(pool, clock, large.approvals))
    rooms = Rooms(
        directory,
        store,
        large.approvals,
        large,
        QuarantineStore(pool, clock),
        SelectionStore(pool, clock),
        cards,
        CardDesk(pool, clock, large.approvals),
        await campaign_desk(wiring, pool, large.approvals),
        PartnerStore(pool, clock),
        errands,
        await _watched(wiring),
        *_provider(wiring, plan),
    )
    return Premises(
        address=plan.address,
        clock=clock,
        pool=pool,
        outages=outages,
        door=door,
        sessions=sessions,
        here=reading_of(pool, clock, counters),
        rooms=rooms,
        erases=settings.console_owner_database_url is not None,
        replica=_replica(wiring, counters if cassandra is not None else None),
    )


def _provider(wiring: Wiring, plan: Plan) -> tuple[Provider, ...]:
    if plan.client is None:
        return ()
    provider = Provider(plan.client, plan.reading, wiring.clock)
    wiring.at_the_end(provider.close)
    return (provider,)


async def _watched(wiring: Wiring) -> Watched:
    settings = wiring.settings
    return Watched(
        settings.points_topic,
        settings.queue_prefix,
        PIPELINE,
        groups_of(settings),
        settings.kafka_bootstrap,
        await _sqs(wiring),
    )


def _replica(wiring: Wiring, counters: CounterStore | None) -> Replica | None:
    url, clock = wiring.settings.read_database_url, wiring.clock
    if url is None:
        return None

    async def opened() -> Reading:
        pool = await open_pool(url, size=_CONNECTIONS, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
        return reading_of(pool, clock, counters)

    replica = Replica(opened, wiring.process_health)
    wiring.at_the_end(replica.close)
    wiring.beside(replica.keep_looking())
    return replica


def environments(settings: Settings) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What commands find, and what those find beside that erase: nobody else is given the owner's login, and nobody
    that of the console.
    """
    every = {name: value for name, value in {**os.environ, **settings.environment()}.items() if name not in _NOT_TOLD}
    owner = settings.console_owner_database_url
    return every, {} if owner is None else {"ABACUS_DATABASE_URL": owner}


async def _sqs(wiring: Wiring) -> Client | None:
    """`None` where neither an address nor a region says which SQS to look at."""
    try:
        return await wiring.sqs(within_s=_QUEUES_WITHIN_S)
    except Refused:
        return None


async def _watch(wiring: Wiring, pool: Pool, outages: Outages) -> None:
    """Ready means that the database answers: without it nobody is known."""
    while True:
        try:
            await ping(pool)
        except Unavailable as error:
            outages.failed(DEPENDENCY)
            wiring.health.waiting(error)
        else:
            outages.back(DEPENDENCY)
            wiring.health.ready()
        await asyncio.sleep(_PROBE_EVERY_S)


def _client(settings: Settings, public_url: str) -> OidcClient | None:
    issuer, client_id = settings.console_oidc_issuer, settings.console_oidc_client_id
    if issuer is None and client_id is None:
        return None
    if issuer is None or client_id is None:
        raise Refused("ABACUS_CONSOLE_OIDC_ISSUER and ABACUS_CONSOLE_OIDC_CLIENT_ID go together")
    if not issuer.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise Refused("ABACUS_CONSOLE_OIDC_ISSUER: an https address is needed")
    return OidcClient(issuer, client_id, settings.console_oidc_client_secret, public_url + BACK)


def _roles(text: str) -> tuple[Role, ...]:
    names = [each.strip() for each in text.split(",") if each.strip()]
    unknown = sorted(set(names) - set(Role))
    if unknown:
        raise Refused(f"ABACUS_CONSOLE_CODE_FOR: no role is called {unknown[0]}; there are {', '.join(Role)}")
    return tuple(Role(each) for each in names)
