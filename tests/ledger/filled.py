"""A ledger with something of everything: whole, and the same in eight slices."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import asyncpg

from abacus.cli.examples import example_cards
from abacus.core.ids import award_id
from abacus.core.sources import partner_source
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.effects import Effects
from abacus.engage.limits.decide.pots import Limited, pot_of
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import Reception, Register
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award, Transacted
from abacus.ledger.types.port import Status
from abacus.platform.migrations import cut, migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.slices import SliceMap, slice_map_of
from abacus.platform.slices.layout import CUT, OF_A_SLICE
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.sweep import Task
from abacus.programs.tiers.store import MembershipStore
from tests.engage.campaigns.offers import POINTS, all_matched, campaign, order
from tests.engage.notify.telling import earned as news
from tests.ledger.moves import hold, spend
from tests.programs.expiry.office import Office
from tests.support.awards import NOW, award
from tests.support.campaigns import THIRD_ORDER, publications
from tests.support.fixed_clock import FixedClock
from tests.support.services import Services, administer, database_address

EIGHT: Final = SliceMap(8)
MEMBERS: Final = [f"m{number}" for number in range(40)]  # some of each slice
JUNE, JULY, AUGUST = date(2026, 6, 30), date(2026, 7, 31), date(2026, 8, 31)
CLOCK, LATER = FixedClock(NOW), FixedClock(NOW + timedelta(days=1))
ACME: Final = partner_source("acme")
BOOK: Final = CardBook([PublishedCard(card, 1) for card in example_cards()])
SINGAPORE: Final = ZoneInfo("Asia/Singapore")
IDS: Final = [award_id(f"api:acme:{member}") for member in MEMBERS]
KEYS: Final = [f"txn:rides:{member}" for member in MEMBERS]
LAPSED: Final = [f"expiry:2026-06:{member}:GRP" for member in MEMBERS]
CAMPAIGN: Final[Campaign] = parse_campaign(THIRD_ORDER, publications())
LIMITED: Final = campaign(name="limited", limits={"runs": {"overall": 25, "day": 60}, "points": {"day": 20_000}})
COUNTING: Final = campaign(name="counting", steps=[{"at": 2, "do": [POINTS]}], split={"control": 50, "a": 50}, goal=2)
LIMITS: Final = {pot_of(LIMITED.owner): Limited(LIMITED.limits.overall, 1)}
_ACTIONS: Final = """
insert into action
    (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at, due_at, document, done_at)
select unnest($1::text[]), unnest($2::text[]), 0, 'campaign', 'third_order', 1, 0, 'award', '', now(), now(), '{}',
    now()
"""


def partners_award(member: str, **changes: Any) -> Award:
    key = f"api:acme:{member}"
    return award(key=key, member_id=member, points=5, expires_on=AUGUST, activity=False, source=ACME, **changes)


def transacted(member: str, key: str) -> Award:
    """A partner's award for the member's ride."""
    facts = Transacted(f"txn:rides:{member}", "ab" * 8)
    explanation = f'{{"transaction":"{facts.key}"}}'.encode()
    return partners_award(member, transaction=facts, explanation=explanation)._replace(key=f"api:acme:{key}")


def earned(member: str, number: int) -> list[Award]:
    """Two lots, and for some a third in another program, in several countries, with and without days of their own."""
    country, lifetime = ("SG", "ID")[number % 5 == 0], number % 2 == 0
    facts = {"member_id": member, "country": country, "fingerprint": f"{member:>016}", "lifetime": lifetime}
    first = award(key=f"txn:rides:{member}", points=100 + number, expires_on=(JUNE, JULY)[number % 3 > 0], **facts)
    second = award(key=f"txn:meals:{member}", points=50, expires_on=AUGUST, activity=False, **facts)
    return [first, second, second._replace(key=f"txn:pays:{member}", program="OVO")][: 2 + (number % 4 == 0)]


async def fill(pool: Pool) -> None:
    """Awards, spends and holds, tiers, a month's end, and awards of a partner: queued, posted, rejected and missing."""
    ledger, moves, register = PostgresLedger(pool, CLOCK), PostgresMoves(pool, LATER), Register(pool, CLOCK)
    await pool.execute("insert into allowance (partner_id, per_award) values ('acme', 100)")
    awards = [each for number, member in enumerate(MEMBERS) for each in earned(member, number)]
    assert {each.status for each in await ledger.post(awards)} == {Status.POSTED}
    await moves.move([spend(30, f"api:acme:spend-{member}", member) for member in MEMBERS])
    await moves.move([hold(10, f"hold-{member}", member, NOW + timedelta(hours=48)) for member in MEMBERS])
    tiers = MembershipStore(pool, CLOCK)
    for member in MEMBERS[::7]:
        await tiers.set((member, "GRP"), "gold", reason="test", actor="test")
    office = Office(pool, datetime(2026, 6, 30, 16, 0, 1, tzinfo=UTC))
    await office.sweep(Task("SG", Month(2026, 6), SINGAPORE))
    await office.expire()
    gifts = [partners_award(member) for member in MEMBERS[:30]]
    gifts += [partners_award(member)._replace(points=1000) for member in MEMBERS[30:35]]
    entries = [Entry.of("acme", each) for each in gifts]
    assert {each.reception for each in (await register.take(entries)).values()} == {Reception.OURS}
    await register.queued([entry.award_id for entry in entries])
    await ledger.post([*gifts[:20], *gifts[30:]])
    await run_campaigns(pool)
    for member in MEMBERS[::5]:
        await PreferenceStore(pool, CLOCK).set(member, locale="id", channels=[ChannelName.SNS], by="test")
    notices = Notices(pool, CLOCK)
    await notices.enter([news(member, 1) for member in MEMBERS], gathered_for=timedelta(0))
    for number in range((await slice_map_of(pool)).slices):
        await notices.gather(number, [ChannelName.LOG, ChannelName.SNS])


async def run_campaigns(pool: Pool) -> None:
    """One that comes to its limit, and one that counts; awards of a third, half of which are posted."""
    for offer in (LIMITED, COUNTING):
        events = [order(number, member) for number, member in enumerate([*MEMBERS, *MEMBERS])]
        assert len((await Effects(pool, CLOCK, slot=1).decide(all_matched(offer, events))).runs) == len(events)
    slice_map = await slice_map_of(pool)
    for number, members in slice_map.by_slice(MEMBERS, str).items():
        keys = [*(f"txn:rides:{member}" for member in members), *(f"campaign:third_order:{each}" for each in members)]
        async with pool.acquire(schema=slice_map.schema_of(number)) as connection:
            await connection.execute(_ACTIONS, [*members, *members], keys)


async def drop_views(url: str) -> None:
    owner = await asyncpg.connect(url)
    await owner.execute(f"drop view {', '.join(f'public.{table}' for table in (*CUT, *OF_A_SLICE))}")
    await owner.close()


@asynccontextmanager
async def database(services: Services) -> AsyncIterator[str]:
    name = f"abacus_reading_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name}")
    await migrate(database_address(services, name))
    yield database_address(services, name)
    await administer(services, f"drop database {name} with (force)")


@asynccontextmanager
async def both(services: Services) -> AsyncIterator[tuple[Pool, Pool]]:
    """The same in a whole ledger and in one of eight slices, which is filled without views too."""
    async with database(services) as whole, database(services) as sliced:
        await cut(sliced, 8)
        await drop_views(sliced)
        pools = [await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True) for url in (whole, sliced)]
        for pool in pools:
            await fill(pool)
        yield pools[0], pools[1]
        for pool in pools:
            await pool.close()
