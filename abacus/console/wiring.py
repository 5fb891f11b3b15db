"""How the console is put together: its premises, the rooms that pages ask, and what runs beside."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import structlog
from starlette.types import ASGIApp

from abacus.api.entrance import Entrance
from abacus.api.http.wiring import http_limits
from abacus.api.server import bound
from abacus.approving.card_desk import CardDesk
from abacus.approving.contact_desk import ContactDesk
from abacus.approving.wiring import large_moves
from abacus.console.app import console_app
from abacus.console.cleanup import keep_tidying
from abacus.console.drafts.store import DraftStore
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.wiring import EntryPlan, door_of, people_desk, plan_of, provider_of, ways_of
from abacus.console.errands.runner import ErrandRunner
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Room
from abacus.console.premises import Premises
from abacus.console.read_side import ReadSide, Replica, reading_of
from abacus.console.selections.store import SelectionStore
from abacus.console.watch.store import WatchStore
from abacus.console.watch.watch import keep_watching
from abacus.console.web.parts import Outages
from abacus.core.errors import Refused, Unavailable
from abacus.engage.campaigns.wiring import campaign_desk
from abacus.engage.categories.kind import category_desk
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import Allowed
from abacus.engage.journeys.entry_desk import EntryDesk
from abacus.engage.journeys.wiring import journey_desk
from abacus.engage.notify.notices import Notices
from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.preview_wiring import looked_up, offer_preview
from abacus.engage.offers.till_wiring import offer_returns
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.wiring import returns_desk, reward_preview
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.link_desk import kept_links
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.wiring import exchange_deeds
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.read import STANDING
from abacus.ledger.wiring import moves_of, single_moves
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.growth.wiring import disk_of
from abacus.oversight.status.sources import Places
from abacus.oversight.status.wiring import groups_of
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.platform.logins import console_login
from abacus.platform.patience import until_available
from abacus.platform.postgres import DEPENDENCY, Pool, open_pool, ping
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.rooms import Rooms
from abacus.platform.settings import Settings
from abacus.platform.sqs.queue import Client
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.store.cards import CardReader
from abacus.pricing.wiring import cards_in_use
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.store.opened_store import open_store
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.wiring import cassandra_of
from abacus.signals.events.kind import Reserved, SourceDesk
from abacus.signals.events.wiring import broker_topics, built_in_sources, recent_events
from abacus.signals.places.kind import map_desk
from abacus.signals.places.locating import locating
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.wiring import maps_in_use, regions_in_use
from abacus.signals.segments.desk import SegmentDesk

DATABASE_WITHIN_S: Final = 5.0
_QUEUES_WITHIN_S: Final = 3.0
_CONNECTIONS: Final = 8
_PROBE_EVERY_S: Final = 1.0
_NOT_TOLD: Final = frozenset(
    {"ABACUS_CONSOLE_DATABASE_URL", "ABACUS_CONSOLE_OWNER_DATABASE_URL", "ABACUS_PEOPLE_DATABASE_URL"}
)
_HERE: Final = frozenset({"127.0.0.1", "::1", "localhost"})

log = structlog.get_logger(__name__)


async def console(wiring: Wiring, pipeline: Sequence[str]) -> Run:
    """`pipeline`: the workers that have to run."""
    settings, plan = wiring.settings, plan_of(wiring.settings)
    listener = bound(settings.console_host, settings.console_port, "ABACUS_CONSOLE_HOST and ABACUS_CONSOLE_PORT")
    if not plan.address.is_secure and settings.console_host not in _HERE:
        log.warning("cookies of the console go over plain http: ABACUS_CONSOLE_PUBLIC_URL names no https address")
    entrance = Entrance(wiring.process_health, listener, http_limits(settings))
    return entrance.to(partial(_opened, wiring, plan, pipeline))


async def _opened(wiring: Wiring, plan: EntryPlan, pipeline: Sequence[str]) -> ASGIApp:
    login = console_login(wiring.settings.console_database_url)
    pool = await wiring.pool(size=_CONNECTIONS, keeps_nothing=True, within_s=DATABASE_WITHIN_S, login=login)
    outages = Outages(wiring.clock)
    premises = await _premises(wiring, plan, pool, outages, pipeline)
    wiring.beside(_watch(wiring, pool, outages))
    return console_app(premises, wiring.process_health)


async def _premises(wiring: Wiring, plan: EntryPlan, pool: Pool, outages: Outages, pipeline: Sequence[str]) -> Premises:
    clock, settings = wiring.clock, wiring.settings
    store, sessions = PeopleStore(pool, clock), SessionStore(pool, clock, plan.limits)
    directory, cards = wiring.keep(PeopleDirectory(store, clock)), cards_in_use(wiring, pool, may_be_empty=True)
    await until_available(directory.refresh, wiring.health)
    ways = ways_of(wiring, pool)
    door = door_of(wiring, plan, pool, ways, people=directory, store=store, sessions=sessions)
    cassandra = cassandra_of(settings)
    counters, _ = await wiring.entered(open_store(cassandra, pool, clock))
    large = large_moves(wiring, pool, single_moves(wiring, pool))
    errands = ErrandStore(pool, clock, Room(settings.console_errands_open, settings.console_errands_per_hour))
    wiring.beside(ErrandRunner(errands, *environments(settings)).keep_running())
    wiring.beside(keep_tidying(pool, clock, large.approvals))
    places, watch = await _places(wiring, pool, pipeline), WatchStore(pool)
    wiring.beside(keep_watching(places, watch, clock))
    maps, regions = maps_in_use(wiring, pool), regions_in_use(wiring, pool)
    for each in (maps, regions):
        await until_available(each.refresh, wiring.health)
    recent, topics = recent_events(wiring, locating(regions.value)), broker_topics(wiring)
    moves, of = moves_of(wiring, pool), await looked_up(wiring, pool)
    rooms = Rooms(
        directory,
        store,
        people_desk(wiring, plan, store, ways),
        large.approvals,
        large,
        QuarantineStore(pool, clock),
        SelectionStore(pool, clock),
        DraftStore(pool),
        cards,
        CardDesk(pool, clock, large.approvals),
        await campaign_desk(wiring, pool, large.approvals),
        await journey_desk(wiring, pool, large.approvals),
        EntryDesk(pool, clock),
        OfferDesk(pool, clock, large.approvals),
        CodeDesk(pool, clock, wiring.secrets()),
        category_desk(pool, clock),
        ContactDesk(pool, clock, large.approvals),
        map_desk(pool, clock),
        maps,
        regions,
        RegionDesk(pool, clock, large.approvals),
        PlaceDesk(pool, clock),
        offer_preview(wiring, pool, cards.book, STANDING, of),
        RewardDesk(pool, clock, large.approvals),
        reward_preview(pool, clock, moves, cards.book, of),
        returns_desk(pool, clock, moves, cards.book),
        offer_returns(pool, clock),
        ProgrammeDesk(pool, clock, large.approvals, to_private=settings.webhooks_to_private),
        kept_links(LinkStore(pool, wiring.secrets()), clock, Notices(pool, clock)),
        exchange_deeds(pool, clock, moves, cards.book),
        PartnerStore(pool, clock),
        WebhookDesk(WebhookStore(pool, clock, wiring.secrets()), to_private=settings.webhooks_to_private),
        CounterDesk(pool, clock, built_in_sources(settings), counters),
        SourceDesk(pool, clock, Reserved(built_in_sources(settings), settings.events_topic)),
        DownstreamDesk(pool, clock, Allowed(settings.webhooks_to_private), wiring.secrets()),
        errands,
        places,
        watch,
        SegmentDesk(pool, clock),
        accounts_desk(pool, clock),
        *provider_of(wiring, plan),
        *([] if recent is None else [recent]),
        *([] if topics is None else [topics]),
    )
    return Premises(
        address=plan.address,
        clock=clock,
        pool=pool,
        outages=outages,
        door=door,
        sessions=sessions,
        here=reading_of(pool, clock, cards, built_in_sources(settings), counters),
        rooms=rooms,
        erases=settings.console_owner_database_url is not None,
        replica=_replica(wiring, cards, counters if cassandra is not None else None),
    )


async def _places(wiring: Wiring, pool: Pool, pipeline: Sequence[str]) -> Places:
    settings, sqs = wiring.settings, await _sqs(wiring)
    kafka, prefix, topic = settings.kafka_bootstrap, settings.queue_prefix, settings.points_topic
    return Places(pool, sqs, kafka, prefix, topic, groups_of(settings), pipeline, disk_of(settings))


def _replica(wiring: Wiring, cards: CardReader, counters: CounterStore | None) -> Replica | None:
    url, clock = wiring.settings.read_database_url, wiring.clock
    if url is None:
        return None

    async def opened() -> ReadSide:
        pool = await open_pool(url, size=_CONNECTIONS, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
        return reading_of(pool, clock, cards, built_in_sources(wiring.settings), counters)

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
