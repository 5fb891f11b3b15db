"""Whoever reads by member, by key or page by page reads the slices, never the views over all of them, and is told what
a whole ledger tells.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from abacus.cli.demo.afterwards import until_everybody_is_told
from abacus.cli.demo.campaigns import _is_done
from abacus.cli.demo.stream import _latencies_ms
from abacus.core.clock import SystemClock
from abacus.core.ids import award_id
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.campaigns.decide.campaign import OWNER_KIND
from abacus.engage.campaigns.progress_rows import progress_of
from abacus.engage.campaigns.report import glance, report, used_by
from abacus.engage.campaigns.sums import done_before
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.expiry_notices import ExpiryReminders
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications, messages_of
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.register import AwardStatus, Reception, Register
from abacus.ledger.store.holds import HoldKeeper, HoldReader
from abacus.ledger.store.key_search import claims_of, parts_of
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.port import Claim, Status
from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.oversight.reconcile.effects import Effects, totals_of_campaigns
from abacus.oversight.reconcile.messages import AsOf
from abacus.platform import slices
from abacus.platform.postgres import Pool, snapshot
from abacus.platform.slices import slice_map_of, slices_of
from abacus.programs.expiry.decide.envelope import decode_envelope
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing_sql import preview
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep_run import sweeping
from tests.ledger.filled import (
    ACME,
    BOOK,
    CAMPAIGN,
    CLOCK,
    COUNTING,
    EIGHT,
    IDS,
    KEYS,
    LAPSED,
    LATER,
    LIMITED,
    LIMITS,
    MEMBERS,
    both,
    partners_award,
    transacted,
)
from tests.programs.expiry.office import Office
from tests.support.awards import NOW, award
from tests.support.fixed_clock import FixedClock
from tests.support.services import Services

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
async def ledgers(services: Services) -> AsyncIterator[tuple[Pool, Pool]]:
    """No test changes their points."""
    async with both(services) as pools:
        yield pools


async def of_each(read: Callable[[str], Awaitable[object]]) -> list[object]:
    return [await read(member) for member in MEMBERS]


async def _transfers(pool: Pool) -> list[object]:
    reader = LedgerReader(pool)
    claims = await reader.claims_of(KEYS)
    return [await reader.transfer(claims[key]) for key in KEYS]


def _then(pool: Pool, moment: datetime) -> Awaitable[object]:
    return of_each(lambda member: MemberReader(pool).as_of(member, moment))


async def _sought(pool: Pool) -> object:
    """Every page of an unfinished month's end, as one list."""
    async with sweeping(pool, LATER, "SG", Month(2026, 8)) as sweep:
        await sweep.start(NOW)
        found = list[object]()
        while page := await sweep.find(11):
            found += page
            assert len(page) <= 11
            await sweep.enter([], page[-1])
    return found


async def _of_campaigns(pool: Pool) -> object:
    """As an account of a window has them."""
    as_of = AsOf({}, [f"campaign:third_order:{MEMBERS[3]}"], LATER.now(), LATER.now())
    async with snapshot(pool) as connection:
        between = NOW - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
        effects = Effects(connection, OWNER_KIND, *between)
        outcomes = await effects.awards(as_of, Queues(0, 0, 0))
        outcomes.groups.sort()
        return [await effects.actions(), await totals_of_campaigns(connection), outcomes]


Reading = Callable[[Pool], Awaitable[object]]

READINGS: Final[dict[str, Reading]] = {
    "accounts": lambda pool: of_each(LedgerReader(pool).accounts),
    "standings": lambda pool: LedgerReader(pool).standings_of([(member, "GRP") for member in [*MEMBERS, "nobody"]]),
    "a claim": lambda pool: of_each(lambda member: LedgerReader(pool).claim(f"txn:meals:{member}")),
    "claims": lambda pool: LedgerReader(pool).claims_of([*KEYS, *LAPSED, "txn:rides:none", "expiry:2026-06:none:GRP"]),
    "transfers of claims": _transfers,
    "a transfer": lambda pool: of_each(lambda member: LedgerReader(pool).at(member, "GRP", 2)),
    "history": lambda pool: of_each(lambda member: LedgerReader(pool).history(member, {"GRP": 3, "OVO": 9}, 3)),
    "lots": lambda pool: of_each(lambda member: LedgerReader(pool).lots(member, "GRP", 0, 10)),
    "a hold": lambda pool: of_each(lambda member: HoldReader(pool).hold(member, award_id(f"api:acme:hold-{member}"))),
    "open holds": lambda pool: of_each(lambda member: HoldReader(pool).open_holds(member, source=ACME)),
    "holdings": lambda pool: of_each(MemberReader(pool).holdings),
    "accounts as they were": lambda pool: _then(pool, NOW + timedelta(hours=12)),
    "accounts as they are": lambda pool: _then(pool, NOW + timedelta(days=99)),
    "whom a partner knows": lambda pool: of_each(lambda member: MemberReader(pool).knows(member, ACME)),
    "whom nobody knows": lambda pool: of_each(lambda member: MemberReader(pool).knows(member, "partner:other")),
    "states of awards": lambda pool: Register(pool, LATER).states(IDS),
    "months due": lambda pool: ExpiryRuns(pool).months_due("SG", Month(2026, 12)),
    "a preview": lambda pool: preview(pool, "SG", Month(2026, 8), with_earlier=True),
    "accounts of a month's end": _sought,
    "preferences": lambda pool: of_each(PreferenceStore(pool, CLOCK).get),
    "messages": lambda pool: of_each(lambda member: messages_of(pool, member, 10)),
    "messages that wait": lambda pool: Notifications(pool).waiting(CLOCK.now()),
    "the report of a campaign": lambda pool: report(pool, CAMPAIGN),
    "the report of one with a limit": lambda pool: report(pool, LIMITED),
    "a campaign at a glance": lambda pool: glance(pool, COUNTING),
    "what campaigns have taken": lambda pool: used_by(pool, ["limited", "counting", "none"]),
    "what is left": lambda pool: PotStore(pool, 1, done_before).left(LIMITS),
    "what is exactly left": lambda pool: PotStore(pool, 2, done_before).exactly_left(LIMITS),
    "actions that wait": lambda pool: ActionStore(pool, LATER).backlog("awards"),
    "progress": lambda pool: of_each(lambda member: progress_of(pool, member, None, 10)),
    "what campaigns decided": _of_campaigns,
}


@pytest.mark.parametrize("name", READINGS)
async def test_the_same_is_told(ledgers: tuple[Pool, Pool], name: str) -> None:
    whole, sliced = [await READINGS[name](pool) for pool in ledgers]
    assert whole
    assert sliced == whole


async def test_what_is_told_is_not_nothing(ledgers: tuple[Pool, Pool]) -> None:
    """So that two empty answers are not taken for the same."""
    _, pool = ledgers
    reader = LedgerReader(pool)
    assert len(await reader.claims_of([*KEYS, *LAPSED])) == len(MEMBERS) + 11
    statuses = [each.status for each in (await Register(pool, LATER).states(IDS)).values()]
    expected = {AwardStatus.POSTED: 20, AwardStatus.QUEUED: 10, AwardStatus.REJECTED: 5}
    assert {each: statuses.count(each) for each in set(statuses)} == expected
    assert {each.tier for member in MEMBERS for each in await MemberReader(pool).holdings(member)} == {"member", "gold"}
    assert (await report(pool, CAMPAIGN)).posted == len(MEMBERS)
    assert await ExpiryRuns(pool).months_due("SG", Month(2026, 12)) == [Month(2026, number) for number in (6, 7, 8)]
    assert all([await HoldReader(pool).open_holds(member) for member in MEMBERS])
    assert all([await messages_of(pool, member, 10) for member in MEMBERS])
    waiting = await Notifications(pool).waiting(CLOCK.now())
    assert {name: waiting[name].deliveries for name in (ChannelName.LOG, ChannelName.SNS)} == {
        ChannelName.LOG: len(MEMBERS) - len(MEMBERS[::5]),
        ChannelName.SNS: len(MEMBERS),
    }


async def test_members_asked_for_at_once(ledgers: tuple[Pool, Pool]) -> None:
    """Each slice has a query of its own, and each caller its own answer."""
    for pool in ledgers:
        reader = MemberReader(pool)
        told = await asyncio.gather(*map(reader.holdings, [*MEMBERS, *MEMBERS]))
        assert [{each.account.member_id for each in holdings} for holdings in told] == [
            {member} for member in [*MEMBERS, *MEMBERS]
        ]


async def test_keys_are_looked_for_where_they_are_entered(ledgers: tuple[Pool, Pool]) -> None:
    """And those that name their member everywhere."""
    whole, sliced = ledgers
    asked = [KEYS[0], KEYS[1], "txn:rides:none", LAPSED[3]]
    assert await parts_of(whole, asked) == {0: asked}
    parts = await parts_of(sliced, asked)
    assert {number for number, keys in parts.items() if LAPSED[3] in keys} == set(range(8))
    homes = {key: [number for number, keys in parts.items() if key in keys] for key in asked[:3]}
    expected = {KEYS[number]: [EIGHT.slice_of(MEMBERS[number])] for number in range(2)}
    assert homes == {**expected, "txn:rides:none": []}
    assert await parts_of(sliced, ["txn:rides:none"]) == {}
    assert await claims_of(sliced, []) == {}


async def test_entries_of_claimed_keys_are_not_made(ledgers: tuple[Pool, Pool]) -> None:
    """A movement has the key, in whatever slice; the ride has its award; the same award again is known."""
    told: list[object] = []
    for pool in ledgers:
        register = Register(pool, LATER)
        entries = [
            Entry.of("acme", partners_award("m1")._replace(key="api:acme:spend-m2")),
            Entry.of("acme", transacted("m3", "for-a-ride")),
            Entry.of("acme", partners_award("m4")),
            Entry.of("acme", partners_award("m5")._replace(fingerprint="other")),
        ]
        answers = await register.take(entries)
        told.append([(answers[entry.award_id].reception, answers[entry.award_id].awarded_as) for entry in entries])
    assert told[0] == [
        (Reception.OTHER_FACTS, None),
        (Reception.AWARDED, "txn:rides:m3"),
        (Reception.QUEUED, None),
        (Reception.OTHER_FACTS, None),
    ]
    assert told[1] == told[0]


async def test_a_key_that_is_entered_and_not_posted_is_free(ledgers: tuple[Pool, Pool]) -> None:
    _, pool = ledgers
    await pool.execute("insert into key_slice values ('api:acme:entered', 3)")
    entry = Entry.of("acme", partners_award("m1")._replace(key="api:acme:entered"))
    register = Register(pool, LATER)
    assert (await register.take([entry]))[entry.award_id].reception is Reception.OURS
    assert await claims_of(pool, ["api:acme:entered"]) == {}


async def test_batches_of_a_months_end_name_accounts_of_one_slice(ledgers: tuple[Pool, Pool]) -> None:
    named: list[set[object]] = []
    for pool in ledgers:
        office = Office(pool, datetime(2026, 7, 31, 16, 0, 1, tzinfo=UTC))
        await office.sweep()
        bodies = await pool.fetch("select body from expiry_batch where country = 'SG' and month = '2026-07'")
        batches = [decode_envelope(row["body"]).accounts for row in bodies]
        if pool is ledgers[1]:
            assert all(len({EIGHT.slice_of(member) for member, _ in accounts}) == 1 for accounts in batches)
        named.append({account for accounts in batches for account in accounts})
    assert named[0]
    assert named[1] == named[0]


async def test_reminders_are_the_same(ledgers: tuple[Pool, Pool]) -> None:
    clock, told = FixedClock(datetime(2026, 7, 1, 4, tzinfo=UTC)), list[Sequence[object]]()
    for pool in ledgers:
        notices = Notices(pool, clock)
        (run,) = await ExpiryReminders(pool, notices, clock, gathered_for=timedelta(0)).run(BOOK, "SG")
        rows = await slices.rows(pool, ("select member_id, event_id, part from notice",))
        told.append([run, *sorted(map(tuple, rows))])
    assert len(told[0]) > 20
    assert told[1] == told[0]


@pytest.mark.long
async def test_overdue_holds_of_all_slices_are_released(services: Services) -> None:
    clock = FixedClock(NOW + timedelta(days=3))
    async with both(services) as pools:
        for pool in pools:
            keeper = HoldKeeper(pool, PostgresMoves(pool, clock), clock)
            assert [await keeper.release_overdue(), await keeper.release_overdue()] == [len(MEMBERS), 0]
            assert not any([await HoldReader(pool).open_holds(member) for member in MEMBERS])


async def test_the_demo_reads_slices(ledgers: tuple[Pool, Pool]) -> None:
    for pool in ledgers:
        assert len(await _latencies_ms(pool, dict.fromkeys(KEYS, NOW))) == len(KEYS)
        assert not await _is_done(pool, [CAMPAIGN])
        for number in range((await slice_map_of(pool)).slices):
            async with (await slices_of(pool))[number].at() as connection:
                await connection.execute("update notice set told_at = now()")
                await connection.execute("update notification set sent_at = now()")
        await until_everybody_is_told(pool, SystemClock().now())


async def test_a_claim_of_another_slice_is_told_to_who_posts(ledgers: tuple[Pool, Pool]) -> None:
    """The key is one member's; another member's award under it is a conflict, and names the first."""
    one, other = MEMBERS[0], next(each for each in MEMBERS if EIGHT.slice_of(each) != EIGHT.slice_of(MEMBERS[0]))
    for pool in ledgers:
        (outcome,) = await PostgresLedger(pool, LATER).post([award(key=KEYS[0], member_id=other, fingerprint="f" * 16)])
        assert outcome.status is Status.CONFLICT
        assert await LedgerReader(pool).claim(KEYS[0]) == Claim(KEYS[0], one, "GRP", 1, f"{one:>016}")
