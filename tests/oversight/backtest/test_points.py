"""The points that members could spend in the past: as they were posted, and pending ones when they vested."""

from datetime import UTC, datetime, timedelta

from abacus.engage.offers.decide.past import Window
from abacus.oversight.backtest.points import had, moves
from abacus.platform.postgres import Pool, snapshot
from tests.oversight.reports.histories import History, Move, write

BEGIN = datetime(2026, 1, 10, tzinfo=UTC)
WINDOW = Window(BEGIN, BEGIN + timedelta(days=10))


def day(number: int) -> datetime:
    return BEGIN + timedelta(days=number)


HISTORIES = [
    History(
        "ann",
        [
            Move("earn", 300, day(-9), tier="gold"),
            Move("earn", 50, day(-2), vests_at=day(3)),
            Move("earn", 70, day(1), tier="silver", vests_at=day(4)),
            Move("reverse", -70, day(2), vests_at=day(4), explanation={"due": 70}),
            Move("spend", -100, day(5)),
            Move("earn", 9, day(10)),
        ],
    ),
    History("bob", [Move("earn", 40, day(6)), Move("earn", 20, day(7), vests_at=day(30))]),
    History("cleo", [Move("earn", 40, day(-3)), Move("spend", -40, day(-2))]),
    History("dewi", [Move("earn", 500, day(1))], country="ID"),
    History("ella", [Move("earn", 500, day(1))], program="MILES"),
]


async def test_against_rows_by_hand(pool: Pool) -> None:
    await write(pool, HISTORIES)
    async with snapshot(pool) as connection:
        begun = [each async for page in had(connection, "SG", "GRP", WINDOW) for each in page]
        came = [each async for page in moves(connection, "SG", "GRP", WINDOW) for each in page]
    assert [(each.member_id, each.tier, each.free, each.left) for each in begun] == [("ann", "member", 300, 300)]
    assert [((each.at - BEGIN).days, each.member_id, each.points) for each in came] == [
        (3, "ann", 50),
        (5, "ann", -100),
        (6, "bob", 40),
    ]
