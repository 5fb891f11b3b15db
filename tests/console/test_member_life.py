"""What a member's page says beside the ledger: the tier and what the next one takes, messages, and campaigns."""

import json
from datetime import date

import pytest

from abacus.core.points import Points
from abacus.oversight.life.decide.tier_progress import earned_in, missing_to_keep, next_tier
from abacus.platform.postgres import Pool, nothing_else
from abacus.pricing.decide.card import TierPolicy
from abacus.programs.tiers.decide.policy import NO_TIER, Period, Tally
from abacus.programs.tiers.store import MembershipStore
from tests.console.campaigning import submitted
from tests.console.desk import Desk, desk
from tests.support.hooks import award, post

POLICY = TierPolicy(6, {"silver": Points(300), "gold": Points(1500)})
JUNE = Period(date(2026, 1, 1), date(2026, 6, 30), date(2026, 12, 31))


async def lived(open_desk: Desk, pool: Pool) -> None:
    """Bob has an account, a tier, two messages and progress in a campaign of SG."""
    await submitted(open_desk)
    await post(pool, award("txn:rides:1"))
    store = MembershipStore(pool, open_desk.clock)
    await store.set(("bob", "GRP"), "gold", reason="a friend", actor="ann", also=nothing_else)
    for message, sent, parked, failed in (("m1", "now()", "null", None), ("m2", "null", "now()", "no <b>answer</b>")):
        await pool.execute(
            "insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at, sent_at,"
            f" parked_at, last_error) values ('bob', $1, 'log', 'en', $2, now(), now(), {sent}, {parked}, $3)",
            message,
            json.dumps([{"kind": "earned"}, {"kind": "earned"}, {"kind": "campaign"}]).encode(),
            failed,
        )
    await pool.execute(
        "insert into campaign_progress (member_id, campaign, scope, events, runs, points, cost, marks, variant)"
        " values ('bob', 'market', '', 2, 1, 500, 0, '', 'a'), ('bob', 'market', '2026-01', 2, 1, 500, 0, '', null)"
    )


async def test_a_members_page_says_more_than_its_points(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await lived(open_desk, pool)
        ann = await open_desk.inside("ann", "support:SG")
        shown = (await ann.twin("/members/bob")).json()
        (tier,) = shown["tiers"]["value"]
        assert (tier["tier"], tier["override"], tier["next"], tier["missing"]) == ("gold", "a friend", "platinum", 4500)
        assert [each["about"] for each in shown["messages"]["value"]] == [["earned", "campaign"]] * 2
        assert {each["failed"] for each in shown["messages"]["value"]} == {None, "no <b>answer</b>"}
        (progress,) = shown["campaigns"]["value"]
        assert (progress["campaign"], progress["events"], progress["points"]) == ("market", 2, 500)
        page = (await ann.see("/members/bob")).text
        assert "4,500 more make platinum" in page
        assert "make silver" not in page
        assert "no &lt;b&gt;answer" in page


async def test_of_other_countries_nothing_is_said(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await lived(open_desk, pool)
        budi = await open_desk.inside("budi", "support:ID")
        shown = (await budi.twin("/members/bob")).json()
        assert [shown[each]["value"] for each in ("tiers", "messages", "campaigns")] == [[], [], []]


@pytest.mark.parametrize(
    ("tier", "earned", "following"),
    [
        ("member", 0, ("silver", 300)),
        ("member", 299, ("silver", 1)),
        ("silver", 300, ("gold", 1200)),
        ("silver", 10, ("gold", 1490)),
        ("gold", 1500, (None, None)),
        ("gold", 0, (None, None)),
        ("member", -5, ("silver", 305)),
        ("vip", 10, (None, None)),
    ],
)
def test_what_the_next_tier_takes(tier: str, earned: int, following: tuple[str | None, int | None]) -> None:
    assert next_tier(POLICY, tier, earned) == following
    assert next_tier(None, tier, earned) == (None, None)


@pytest.mark.parametrize(
    ("tier", "until", "earned", "missing"),
    [
        ("silver", date(2026, 6, 30), 100, 200),
        ("silver", date(2026, 6, 30), 300, None),
        ("silver", date(2026, 12, 31), 100, None),
        ("silver", None, 100, None),
        ("member", date(2026, 6, 30), 0, None),
    ],
)
def test_what_is_missing_to_keep_a_tier(tier: str, until: date | None, earned: int, missing: int | None) -> None:
    assert missing_to_keep(POLICY, tier, until, earned, JUNE) == missing
    assert missing_to_keep(None, tier, until, earned, JUNE) is None


def test_the_points_of_the_present_period_count() -> None:
    july = Period(date(2026, 7, 1), date(2026, 12, 31), date(2027, 6, 30))
    assert earned_in([Tally(JUNE, 40, NO_TIER)], JUNE) == 40
    assert earned_in([Tally(JUNE, 40, NO_TIER)], july) == 0
