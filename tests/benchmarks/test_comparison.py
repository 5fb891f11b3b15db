"""The tables of two revisions: rows are found again, numbers compared, goals judged."""

import pytest

from benchmarks.comparison import IN_THE_RUN, compare, markdown, read_table
from benchmarks.ratio import Ratio
from benchmarks.report import Figure
from benchmarks.report import markdown as printed

FIGURES = [
    Figure("API, single awards, 32 callers", "2,204 requests/s, p99 22 ms", "6.5 times the others", ">= 1,200/s"),
    Figure("… each sent by itself", "341 requests/s, p99 154 ms"),
    Figure("… all posted once", "yes", wanted="all", reached=False),
]


def test_what_a_benchmark_prints_is_read_again() -> None:
    told = f"measuring\n{printed(FIGURES)}\n\nOn: 2 cores | AMD.\n"
    assert read_table(told) == [figure._replace(wanted="", reached=None) for figure in FIGURES]
    assert read_table("Traceback (most recent call last):\n") == []


@pytest.mark.parametrize(
    ("before", "since", "ratios"),
    [
        ("2,000 requests/s, p99 22 ms", "1,000 requests/s, p99 33 ms", [0.5, 1.5]),
        ("8.2 s, 424 MiB", "4.1 s, 424 MiB", [0.5, 1.0]),
        ("0, 0, 4", "0, 0, 2", [0.5]),  # no ratio to 0
        ("-4.0 %", "-2.0 %", [0.5]),
        ("yes", "yes", []),
        ("10 awards/s", "12 spends/s", []),  # other words: not the same figure
        ("1,234,567 of them", "1,234,567 of them", [1.0]),
    ],
)
def test_each_number_of_a_figure_has_its_ratio(before: str, since: str, ratios: list[float]) -> None:
    (row,) = compare([[Figure("a row", before)]], [[Figure("a row", since)]], {})
    assert (row.before, row.since) == (before, since)
    assert [ratio.median for ratio in row.ratios] == ratios


def test_medians_of_the_rounds_are_told_in_the_words_of_the_figure() -> None:
    before, since = (
        [[Figure("posting", f"{value:,.0f} awards/s, p99 {value / 1000:.1f} ms")] for value in values]
        for values in ((10_000, 12_000, 11_000), (20_000, 24_000, 11_000))
    )
    (row,) = compare(before, since, {})
    assert (row.before, row.since) == ("11,000 awards/s, p99 11.0 ms", "20,000 awards/s, p99 20.0 ms")
    assert row.ratios == [Ratio(2.0, 1.0, 2.0, 3)] * 2


def test_rows_are_found_again_whatever_the_numbers_in_their_names() -> None:
    before = [Figure("memory after 109,737 requests", "115 MiB"), Figure("… x", "1 µs"), Figure("… x", "2 µs")]
    since = [Figure("memory after 99,001 requests", "230 MiB"), Figure("… x", "3 µs"), Figure("… x", "5 µs")]
    assert [(row.name, row.before, row.since) for row in compare([before], [since], {})] == [
        ("memory after 99,001 requests", "115 MiB", "230 MiB"),
        ("… x", "1 µs", "3 µs"),
        ("… x", "2 µs", "5 µs"),
    ]


def test_what_is_in_one_revision_alone_is_shown_and_not_compared() -> None:
    rows = compare([[Figure("old", "1 s", "2 times")]], [[Figure("new", "3 s")]], {"new": 1.05})
    assert [(row.name, row.before, row.since, row.ratios, row.reached) for row in rows] == [
        ("new", "", "3 s", (), False),  # it was wanted, and nobody knows
        ("old", "1 s", "", (), None),
        ("old" + IN_THE_RUN, "2 times", "", (), None),
    ]


@pytest.mark.parametrize(
    ("since", "reached", "shown"), [("104.9 µs", True, "yes"), ("105.1 µs", False, "**no**"), ("90.0 µs", True, "yes")]
)
def test_the_goal_judges_the_median(*, since: str, reached: bool, shown: str) -> None:
    rows = compare([[Figure("cost", "100.0 µs")]] * 6, [[Figure("cost", since)]] * 6, {"cost": 1.05})
    assert rows[0].reached is reached
    assert markdown(rows).splitlines()[-1].split("|")[6:8] == [" <= 1.05 ", f" {shown:<7} "]
