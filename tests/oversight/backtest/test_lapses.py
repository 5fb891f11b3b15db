"""When points would lapse under another policy: the statement against a model that goes lot by lot."""

import itertools
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.oversight.backtest.decide.lapses import LapseChange, changes_policy, policy_of, with_liability
from abacus.oversight.backtest.lapses import Moved, lapses, moved
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.card import Expiry, RateCard
from abacus.programs.expiry.decide.month import last_good_day
from tests.oversight.reports.fifo import histories, lots_of
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import SINGAPORE
from tests.support.tries import tries

BY_ACTIVITY = SINGAPORE  # six months after the last activity
BY_LOTS = replace(SINGAPORE, expiry=Expiry.LIFETIME, expiry_months=12)
SHORTER = replace(SINGAPORE, expiry_months=3)
GRANT = {"granted_by": "acme", "reason": "Hi", "card": "SG@1"}
JANUARY, MARCH = datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 3, 15, tzinfo=UTC)
AUGUST, SEPTEMBER = date(2026, 8, 31), date(2026, 9, 30)
_programs = itertools.count()

Months = dict[str, tuple[int, int]]  # points that lapse as they stand, and by the draft


async def of(pool: Pool, draft: RateCard) -> list[LapseChange]:
    async with snapshot(pool) as connection:
        return await lapses(connection, draft)


async def months(pool: Pool, draft: RateCard) -> Months:
    return {row.month: (row.points, row.draft_points) for row in await of(pool, draft)}


async def members(pool: Pool, draft: RateCard) -> list[Moved]:
    async with snapshot(pool) as connection:
        return [row async for page in moved(connection, draft) for row in page]


LUNCHES = [Move("earn", 10, JANUARY, expires_on=date(2026, 7, 31)), Move("earn", 20, MARCH, expires_on=SEPTEMBER)]


@pytest.mark.parametrize(
    ("history", "draft", "expected"),
    [
        (History("bob", LUNCHES, expires_on=SEPTEMBER), SHORTER, {"2026-06": (0, 30), "2026-09": (30, 0)}),
        (
            History("bob", LUNCHES, expires_on=SEPTEMBER),
            BY_LOTS,
            {"2026-09": (30, 0), "2027-01": (0, 10), "2027-03": (0, 20)},
        ),
        (
            History("bob", LUNCHES, expires_on=date(2026, 7, 31), lifetime=True),
            BY_ACTIVITY,
            {"2026-07": (10, 0), "2026-09": (20, 30)},
        ),
        (  # the oldest are held, and lapse under neither
            History("bob", LUNCHES, expires_on=SEPTEMBER, held=15),
            BY_LOTS,
            {"2026-09": (15, 0), "2027-03": (0, 15)},
        ),
        (  # a gift is no activity
            History("bob", [LUNCHES[0], Move("earn", 5, MARCH, explanation=GRANT)], expires_on=date(2026, 7, 31)),
            SHORTER,
            {"2026-04": (0, 15), "2026-07": (15, 0)},
        ),
        (  # never active: by the first lot that is open
            History("bob", [Move("adjust", 5, MARCH), Move("earn", 5, MARCH, explanation=GRANT)], expires_on=AUGUST),
            SHORTER,
            {"2026-06": (0, 10), "2026-08": (10, 0)},
        ),
        (History("bob", [Move("adjust", 5, MARCH)]), SHORTER, {"2026-06": (0, 5), "never": (5, 0)}),
        (History("bob", [*LUNCHES, Move("spend", -30)], expires_on=SEPTEMBER), SHORTER, {}),
        (History("bob", LUNCHES, expires_on=SEPTEMBER, country="MY"), SHORTER, {}),
        (History("bob", LUNCHES, expires_on=SEPTEMBER, program="OVO"), SHORTER, {}),
    ],
)
async def test_cases(pool: Pool, history: History, draft: RateCard, expected: Months) -> None:
    drawn = sum(-move.points for move in history.moves if move.points < 0)
    await write(pool, [replace(history, lots_drawn=drawn)])
    assert await months(pool, draft) == expected


async def test_a_month_begins_by_the_clock_of_the_country(pool: Pool) -> None:
    new_year = datetime(2025, 12, 31, 16, tzinfo=UTC)
    await write(pool, [History("bob", [Move("earn", 5, new_year)], expires_on=date(2026, 7, 31))])
    assert await months(pool, SHORTER) == {"2026-04": (0, 5), "2026-07": (5, 0)}


async def test_members_are_counted_once_a_month_and_named(pool: Pool) -> None:
    await write(pool, [History(name, LUNCHES, expires_on=SEPTEMBER) for name in ("bob", "eve")])
    assert await of(pool, SHORTER) == [
        LapseChange("SG", "GRP", "2026-06", 0, 0, 2, 60),
        LapseChange("SG", "GRP", "2026-09", 2, 60, 0, 0),
    ]
    assert await members(pool, SHORTER) == [
        Moved(name, "GRP", "SG", 30, "2026-09", "2026-06") for name in ("bob", "eve")
    ]
    assert await members(pool, BY_ACTIVITY) == []


drafts = st.builds(
    lambda program, expiry, count: replace(SINGAPORE, program=program, expiry=expiry, expiry_months=count),
    st.builds(lambda: f"P{next(_programs)}"),
    st.sampled_from(Expiry),
    st.integers(1, 24),
)


@pytest.mark.long
@settings(max_examples=tries(by_day=25, by_night=60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drafts, st.data())
async def test_the_statement_does_what_the_rule_says(pool: Pool, draft: RateCard, data: st.DataObject) -> None:
    """Accounts of both kinds, with points that were spent, taken back by name, held and owed."""
    expected: Counter[tuple[str, str]] = Counter()
    named: Counter[tuple[str, str, str]] = Counter()
    for name in ("bob", "eve"):
        history = data.draw(histories(name, draft.program))
        gifts = data.draw(st.sets(st.integers(0, 11)))
        moves = [
            replace(move, explanation=GRANT) if move.kind == "earn" and place in gifts else move
            for place, move in enumerate(history.moves)
        ]
        drawn = sum(-move.points - sum(points for _, points in move.draws) for move in moves if move.points < 0)
        history = replace(
            history,
            moves=moves,
            held=data.draw(st.integers(0, max(history.balance, 0))),
            lifetime=data.draw(st.booleans()),
            expires_on=data.draw(st.none() | st.just(SEPTEMBER)),
            lots_drawn=drawn,
        )
        await write(pool, [history])
        for day, by_draft, points in _lapsing(history, draft):
            before, after = f"{day:%Y-%m}" if day else "never", f"{by_draft:%Y-%m}"
            expected["now", before] += points
            expected["draft", after] += points
            if before != after:
                named[name, before, after] += points
    stated = Counter[tuple[str, str]]()
    for month, (points, drafted) in (await months(pool, draft)).items():
        stated["now", month], stated["draft", month] = points, drafted
    assert +stated == +expected
    told = {(row.member_id, row.lapses, row.draft_lapses): row.points for row in await members(pool, draft)}
    assert told == +named


def _lapsing(history: History, draft: RateCard) -> list[tuple[date | None, date, int]]:
    """Each open lot: the day on which it lapses, that by the draft, and its points."""

    def good_until(move: Move) -> date:
        return last_good_day(move.at, draft.zone, draft.expiry_months)

    if history.balance <= history.held:
        return []
    lots = {seq: history.moves[seq - 1] for seq in lots_of(history)}
    active = [good_until(move) for move in history.moves if move.kind == "earn" and move.explanation != GRANT]
    together = max(active) if active else min(good_until(move) for move in lots.values())
    return [
        (
            lots[seq].expires_on if history.lifetime else history.expires_on,
            good_until(lots[seq]) if draft.expiry is Expiry.LIFETIME else together,
            points,
        )
        for seq, points in lots_of(history).items()
    ]


def test_what_it_costs_month_by_month() -> None:
    """Under the draft 30 points lapse in June, three months early: their cost is saved until September."""
    rows = [LapseChange("SG", "GRP", "2026-06", 0, 0, 1, 30), LapseChange("SG", "GRP", "2026-09", 1, 30, 0, 0)]
    estimate = Estimate("SGD", Decimal("0.5"), Decimal("0.1"))
    assumption = Assumption("GRP", "SG", 1, date(2026, 1, 1), estimate, JANUARY, "jane", "a study")
    told = with_liability(rows, AssumptionBook([assumption]), date(2026, 5, 1), 2)
    assert [(each.outstanding, each.liability, each.assumption) for each in told] == [
        (-30, Decimal("-1.50"), "GRP/SG@1"),
        (0, Decimal("0.00"), "GRP/SG@1"),
    ]
    assert [each.liability for each in with_liability(rows, AssumptionBook([]), date(2026, 5, 1), 2)] == [None, None]


@pytest.mark.parametrize(
    ("draft", "displaced", "expected"),
    [
        (SHORTER, BY_ACTIVITY, True),
        (BY_LOTS, replace(BY_LOTS, expiry=Expiry.ACTIVITY), True),
        (replace(SINGAPORE, verticals={}), SINGAPORE, False),
        (SHORTER, None, False),
        (replace(SHORTER, scope="partner:acme"), replace(BY_ACTIVITY, scope="partner:acme"), False),
    ],
)
def test_which_drafts_change_when_points_lapse(draft: RateCard, displaced: RateCard | None, *, expected: bool) -> None:
    assert changes_policy(draft, displaced) is expected


def test_policies_in_words() -> None:
    assert policy_of(BY_LOTS) == "each award 12 months after it"
    assert policy_of(replace(SINGAPORE, expiry_months=1)) == "1 month after the last activity"
