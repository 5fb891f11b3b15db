"""What a trial of a reward on the past says."""

from abacus.console.decide.reward_trials import would_have_meant
from tests.console.asking import REWARD_BACKTESTED


def test_who_could_afford_it_and_how_much_of_it_there_would_have_been() -> None:
    words = would_have_meant(REWARD_BACKTESTED)
    assert list(words.says) == [
        "1,200 members could have afforded it, from 2026-03-01 on.",
        "60 pieces would have gone to 40 members, to one of them 2, for 30,000 points, a liability of 240.00 SGD.",
        "7 members would have come too late.",
        "30 members had the points: it is not for them.",
        "The last piece would have gone on 2026-03-03.",
        "Assumed: limits begin unused.",
    ]
    assert [(table.name, table.rows[0]) for table in words.tables] == [
        ("tiers", ["member", 1_200, 60, 30_000, "240.00"]),
        ("days", ["2026-03-01", "member", 1_000, 50, 25_000, "200.00"]),
    ]
    assert words.chart is not None


def test_nothing_would_have_come_of_it() -> None:
    nothing = {
        **REWARD_BACKTESTED,
        **dict.fromkeys(
            ("could_afford", "for_others", "members", "without", "pieces", "most_of_a_member", "points"), 0
        ),
        **dict.fromkeys(("first_could_afford", "gone_on", "liability"), None),
        "tiers": [],
        "days": [],
    }
    words = would_have_meant(nothing)
    assert words.says[0] == "0 members could have afforded it."
    assert (list(words.tables), words.chart) == ([], None)
