"""Tiers recomputed from transfers when the ledger is verified: what was kept is clean, every tampering is named."""

from datetime import timedelta
from typing import Final

import pytest

from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.kafka.reader import Record
from abacus.platform.postgres import Also, Pool, nothing_else
from abacus.platform.sql import columns
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.roll import Roll
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.processes import Helpers
from abacus.proof.verify import verify
from tests.ledger.moves import reverse
from tests.programs.tiers.cards import book, card
from tests.proof.reported import lines
from tests.support.awards import award
from tests.support.explanations import granted
from tests.support.fixed_clock import FixedClock
from tests.support.keeping import AUGUST, MARCH, FixedCards, keeper
from tests.support.logged import card_logged
from tests.support.sealing import tampering

CLOCK: Final = FixedClock(MARCH)
CARDS: Final = book(card())


def _tallied(recorded: str, now: str, period: str = "2026-01-01 to 2026-06-30") -> str:
    return f"bob GRP #3: for its tier it has {recorded} in {period}, its transfers come to {now}"


# Statements of a superuser, and the lines that verifying reports.
TAMPERINGS: Final[dict[str, tuple[str, list[str]]]] = {
    "a higher tier": (
        "update account_tier set tier = 'platinum' where member_id = 'bob'",
        [
            "bob GRP #3: its tier is platinum until 2026-12-31, its points make silver until 2026-12-31",
            "bob GRP #3: its tier is platinum, the last change of it is to silver",
        ],
    ),
    "a tier that lasts longer": (
        "update account_tier set until = '2030-12-31' where member_id = 'bob'",
        ["bob GRP #3: its tier is silver until 2030-12-31, its points make silver until 2026-12-31"],
    ),
    "a tier of another country": (
        "update account_tier set country = 'ID' where member_id = 'bob'",
        ["bob GRP #3: its tier goes by ID, its transfers by SG"],
    ),
    "points that were not earned": (
        "update tier_tally set earned = 450 where member_id = 'bob'",
        [_tallied("450 points (silver from 300)", "349 points (silver from 300)")],
    ),
    "a tier of points that do not make it": (
        "update tier_tally set tier = 'gold', threshold = 1500 where member_id = 'bob'",
        [
            _tallied("349 points (gold from 1500)", "349 points (silver from 300)"),
            "bob GRP #3: its tier is silver until 2026-12-31, its points make gold until 2026-12-31",
        ],
    ),
    "a period in which nothing was earned": (
        "insert into tier_tally values ('bob', 'GRP', '2026-07-01', '2026-12-31', '2027-06-30', 5, 'member', 0)",
        [_tallied("5 points (member from 0)", "nothing", "2026-07-01 to 2026-12-31")],
    ),
    "a period that is gone": (
        "delete from tier_tally where member_id = 'bob'",
        [
            _tallied("nothing", "349 points (silver from 300)"),
            "bob GRP #3: its tier is silver until 2026-12-31, its points make member until None",
        ],
    ),
    "points that count twice": (
        "update account_tier set last_seq = 1 where member_id = 'bob'",
        [
            _tallied("349 points (silver from 300)", "250 points (member from 0)"),
            "bob GRP #3: change 1 of its tier has 350 points, to which its period never came",
        ],
    ),
    "points that never count": (
        "update account_tier set last_seq = 9 where member_id = 'bob'",
        ["bob GRP #3: its tier is counted up to #9, no points that count; the last are #3"],
    ),
    "a record that is gone": (
        "delete from account_tier where member_id = 'bob'",
        ["bob GRP #3: it has a tier or changes of it, and no record of how far it is counted"],
    ),
    "a change to another tier": (
        "update tier_change set to_tier = 'gold' where member_id = 'bob'",
        ["bob GRP #3: its tier is silver, the last change of it is to gold"],
    ),
    "a change that is gone": (
        "delete from tier_change where member_id = 'eve' and n = 1",
        ["eve GRP #1: change 2 of its tier follows change 0"],
    ),
    "the last change is gone": (
        "delete from tier_change where member_id = 'bob'",
        ["bob GRP #3: its tier has changed 1 times, and 0 changes are there"],
    ),
    "a change of other points": (
        "update tier_change set earned = 3000 where member_id = 'bob'",
        ["bob GRP #3: change 1 of its tier has 3000 points, to which its period never came"],
    ),
    "a tier that nobody set": (
        "insert into membership values ('bob', 'GRP', 'gold', 'why not', 'person:ann', now())",
        [
            "bob GRP #0: the tier that is set for it is gold, the log has none",
            "bob GRP #3: its tier is gold, the last change of it is to silver",
        ],
    ),
    "another tier than was set": (
        "update membership set tier = 'silver' where member_id = 'eve'",
        [
            "eve GRP #0: the tier that is set for it is silver, the log has platinum",
            "eve GRP #1: its tier is silver, the last change of it is to platinum",
        ],
    ),
    "a tier of somebody without transfers": (
        "insert into account_tier values ('carl', 'GRP', 'SG', 'gold', '2026-12-31')",
        [
            "carl GRP #0: its tier goes by SG, its transfers by None",
            "carl GRP #0: its tier is gold until 2026-12-31, its points make member until None",
            "carl GRP #0: its tier is gold, the last change of it is to member",
        ],
    ),
    "an account of another country": (
        "update account set country = 'ID' where member_id = 'bob'",
        ["bob GRP #3: the account's country is ID, it was opened in SG"],
    ),
}


@pytest.mark.long
async def test_tiers_as_they_were_kept_are_clean(pool: Pool, database_url: str) -> None:
    """Also when the end of a period has come, and for points that are not counted yet."""
    await _live(pool)
    with Helpers(database_url, 2) as helpers:
        assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)], helpers=helpers)) == []
    await PostgresLedger(pool, CLOCK).post([_award("bob", 9, 5000)])
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []
    await Roll(pool, CARDS, FixedClock(AUGUST + timedelta(days=360))).due("SG")
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_what_is_tampered_with_is_found_and_named(pool: Pool, database_url: str, name: str) -> None:
    await _live(pool)
    statements, expected = TAMPERINGS[name]
    async with tampering(database_url) as superuser:
        await superuser.execute(statements)
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == expected


async def test_a_tier_that_was_set_before_changes_were_recorded(pool: Pool, database_url: str) -> None:
    """There is no record of counting then; and the first change begins with that tier."""
    async with tampering(database_url) as superuser:
        await superuser.execute("insert into membership values ('zoe', 'GRP', 'gold', 'a guest', 'person:ann', now())")
    await pool.execute(
        "insert into audit_log (entry_id, at, actor, authenticated, deed, subject, details) values (gen_random_uuid(),"
        """ now(), 'login:x', false, 'set-tiers', 'member:zoe', '{"did":"found","program":"GRP","tier":"gold"}')"""
    )
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []
    await _live(pool)
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []
    cleared = entry_of("person:ann", Deed.SET_TIERS, "member:zoe", MARCH, did="clear", program="GRP")
    store = MembershipStore(pool, CLOCK)
    await store.clear(("zoe", "GRP"), reason="left", actor="person:ann", also=with_entry(nothing_else, cleared))
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []


async def test_points_of_which_nobody_knows_by_which_card_they_counted(pool: Pool, database_url: str) -> None:
    """A card for them was published later: then the tallies are believed, and what follows from them is not."""
    await _live(pool)
    async with tampering(database_url) as superuser:
        await superuser.execute("update tier_tally set earned = 310 where member_id = 'bob'")
    assert len(lines(await verify(pool, _believe, beside=[Tiers(CARDS)]))) == 1
    await CardStore(pool).publish(card(), by="tests", now=MARCH + timedelta(days=1), also=card_logged(card()))
    assert lines(await verify(pool, _believe, beside=[Tiers(CARDS)])) == []
    async with tampering(database_url) as superuser:
        await superuser.execute("update account_tier set tier = 'gold' where member_id = 'bob'")
    assert len(lines(await verify(pool, _believe, beside=[Tiers(CARDS)]))) == 2


def _believe(_: Transfer) -> None:
    """Explanations are not looked at here."""


async def _live(pool: Pool) -> None:
    """Bob has earned 250 and 100, of which 1 was taken back; Eve has earned 20, and was made platinum by hand. What Zoe
    has earned is not counted yet.
    """
    await PostgresLedger(pool, CLOCK).post([_award("bob", 1, 250), _award("eve", 1, 20)])
    await PostgresLedger(pool, CLOCK).post([_award("bob", 2, 100)])
    await PostgresMoves(pool, CLOCK).move([reverse("txn:rides:bob-2", 1)])
    rows = await pool.fetch(f"select {columns(Transfer)} from transfer order by posted_at, member_id, seq")
    await keeper(pool, FixedCards(CARDS)).handle([_record(Transfer(*row)) for row in rows])
    await PostgresLedger(pool, CLOCK).post([_award("zoe", 1, 7000)])
    store = MembershipStore(pool, CLOCK)
    for tier in ("gold", "platinum"):
        await store.set(("eve", "GRP"), tier, reason="a guest", actor="person:ann", also=_noted(tier))


def _noted(tier: str) -> Also:
    entry = entry_of("person:ann", Deed.SET_TIERS, "member:eve", MARCH, did="set", program="GRP", tier=tier)
    return with_entry(nothing_else, entry)


def _award(member: str, number: int, points: int) -> Award:
    facts = {"points": points, "occurred_at": MARCH, "explanation": granted(points)}
    return award(key=f"txn:rides:{member}-{number}", member_id=member, **facts)


def _record(transfer: Transfer) -> Record:
    return Record(encode_event(transfer), "points", 0, transfer.seq)
