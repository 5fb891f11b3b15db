"""The harness with our side and the plain way: small, and with processes that are really killed."""

import argparse
from typing import Final

import pytest
from aiohttp.test_utils import TestServer

from benchmarks.__main__ import main
from benchmarks.pages import FOLDER
from benchmarks.report import Figure
from benchmarks.rivals.chosen import NOT_NAMED, add_options, asked, named, not_named
from benchmarks.rivals.formance import Formance
from benchmarks.rivals.measured import Size, compare
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.plain_orm import PlainOrm
from benchmarks.rivals.table import ISSUERS
from tests.benchmarks.rivals.formance_sim import FormanceSim

TINY: Final = Size(members=500, rounds=1, seconds=0.5, warm_up_s=0.1, killed_after=400)
SERVER: Final = "postgresql://postgres@127.0.0.1:1/abacus"


@pytest.mark.long
async def test_the_same_awards_are_posted_both_ways_and_none_is_lost_or_doubled(database_url: str) -> None:
    figures = await compare(Ours(database_url), [PlainOrm(database_url)], TINY)
    rates = [each for each in figures if each.value.endswith("awards/s")]
    assert len(rates) == 2 * len(ISSUERS)
    assert all(int(each.value.removesuffix(" awards/s").replace(",", "")) > 0 for each in rates)
    assert [each.ratio.startswith("Abacus posts ") for each in rates] == [False, True] * len(ISSUERS)
    ours, plain = after_a_kill(figures)
    assert [each.reached for each in ours] == [True, True, True]
    assert [each.reached for each in plain] == [None, None, None]
    for lost, twice, sums in (ours, plain):
        gone, of = lost.value.split(" of ")
        assert gone == "0"
        assert int(of.replace(",", "")) >= TINY.killed_after
        assert twice.value == "0; 0"
        assert sums.value == "agree"


@pytest.mark.long
async def test_a_ledger_that_gives_up_does_not_hold_up_the_others(database_url: str) -> None:
    async with TestServer(FormanceSim().app) as server:
        refused = Formance(str(server.make_url("/")), a_call=201)  # it takes 200
        figures = await compare(Ours(database_url), [refused], TINY)
    rows = [each for each in figures if each.value == "gave up"]
    assert [each.name.split(", ")[1] for each in rows] == [
        *("one issuer", "a hundred issuers"),
        "its poster killed by SIGKILL",
    ]
    assert ["413" in each.ratio for each in rows] == [True, True, False]
    (ours,) = after_a_kill([each for each in figures if each not in rows])
    assert all(each.reached for each in ours)


def after_a_kill(figures: list[Figure]) -> list[list[Figure]]:
    """The three rows of each ledger."""
    places = [place for place, each in enumerate(figures) if "SIGKILL" in each.name]
    return [figures[place : place + 3] for place in places]


def chosen(arguments: str = "") -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments.split())


@pytest.mark.parametrize(
    ("arguments", "ledgers", "absent", "repeated"),
    [
        ("--rivals", ["a plain way by an ORM (SQLAlchemy)"], 4, "--rivals"),
        (
            "--rivals --pgledger clone --formance http://f --formance-database postgresql://f",
            ["pgledger", "a plain way by an ORM (SQLAlchemy)", "Formance Ledger"],
            2,
            "--rivals --pgledger PATH --formance URL",
        ),
        (
            "--rivals --blnk http://b --tigerbeetle 3000",
            ["a plain way by an ORM (SQLAlchemy)", "Blnk", "TigerBeetle"],
            2,
            "--rivals --blnk URL --tigerbeetle ADDRESSES",
        ),
    ],
)
def test_a_ledger_is_measured_where_it_is_named(arguments: str, ledgers: list[str], absent: int, repeated: str) -> None:
    options = chosen(arguments)
    assert options.only == ["rivals"]
    assert [each.name for each in named(options, SERVER)] == ledgers
    rows = not_named(options)
    assert [each.value for each in rows] == [NOT_NAMED] * absent
    assert not {each.name for each in rows} & set(ledgers)
    assert asked(options) == repeated


def test_the_benchmarks_take_the_same_options() -> None:
    seen: list[str | None] = []

    def measure(_directory: object, options: argparse.Namespace) -> list[Figure]:
        seen.append(options.pgledger)
        return []

    assert main(["--rivals", "--pgledger", "clone"], {"rivals": measure, "posting": lambda *_: []}) == 0
    assert seen == ["clone"]


def test_the_page_says_how_many_accounts_a_transfer_changes() -> None:
    page = " ".join((FOLDER / "rivals.md").read_text(encoding="utf-8").split())
    assert "A transfer of Abacus changes one account, a transfer of pgledger, Formance, Blnk or TigerBeetle two" in page
