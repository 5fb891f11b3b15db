"""`abacus report` and `abacus rates backtest` as people and programs use them: output, exit codes, refusals."""

import csv
import io
import shlex
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from pathlib import Path

import asyncpg
import orjson
import pyarrow.parquet
import pytest

from abacus.console.decide.reports import REPORTS, charts_of
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard, to_toml
from abacus.pricing.decide.formula import rate_of, worth
from abacus.pricing.store.cards import CardStore
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import SINGAPORE
from tests.support.commands import Ran, abacus
from tests.support.fixed_clock import FixedClock
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once

NOW = datetime(2026, 9, 1, tzinfo=UTC)
JANUARY, FEBRUARY = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 2, 10, tzinfo=UTC)

Command = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def command(pool: Pool, database_url: str) -> Command:
    """On a ledger with the example of the standards: 10,000 points in January, of which 4,500 are used at once and
    4,000 in February.
    """
    await CardStore(pool).publish(SINGAPORE, by="test", now=FixedClock(NOW).now())
    _, text = worth("2500", rate_of(PublishedCard(SINGAPORE, 1), "food", "wallet", "member"))
    sale = Move("earn", 10_000, JANUARY, explanation=orjson.loads(text))
    spends = [Move("spend", -4_500, JANUARY, partner="acme"), Move("spend", -4_000, FEBRUARY, partner="acme")]
    bob = History("bob", [sale, *spends], expires_on=date(2026, 8, 31), held=500, lots_drawn=8_500)
    await write(pool, [bob])

    async def call(*words: str) -> Ran:
        return await abacus(*words, env={"ABACUS_DATABASE_URL": database_url, "COLUMNS": "200"})

    return call


async def assume(command: Command, use: str, since: str, *more: str) -> Ran:
    words = ("report", "assumptions", "set", "--program", "GRP", "--country", "SG", "--expected-use", use)
    said = ("--currency", "SGD", "--from", since, "--reason", "a study", *more)
    return await command(*words, *said)


async def test_the_example_of_the_standards(command: Command) -> None:
    first = await assume(command, "97%", "2026-01", "--allocated-per-point", "0.9")
    assert first.out == "GRP/SG@1 set, in force from 2026-01-01\n"
    await assume(command, "0.99", "2026-02-01", "--allocated-per-point", "0.9")
    january = await command("report", "revenue", "--month", "2026-01", "--decimals", "0", "--json")
    (row,) = january.json["rows"]
    assert (row["allocated"], row["recognised_in_month"], row["deferred"]) == ("9000", "4175", "4825")
    february = await command("report", "revenue", "--month", "2026-02", "--decimals", "0", "--json")
    (row,) = february.json["rows"]
    assert (row["recognised_in_month"], row["of_estimate"], row["assumption"]) == ("3552", "-84", "GRP/SG@2")


async def test_amounts_in_place_of_a_price(command: Command) -> None:
    await assume(command, "97%", "2026-01")
    words = ("report", "revenue", "--month", "2026-01", "--decimals", "0")
    missing = await command(*words)
    assert missing.code == 2
    assert "give the amount of 2026-01: --allocated 2026-01=AMOUNT" in missing.err
    given = await command(*words, "--allocated", "2026-01=9000", "--json")
    assert given.json["rows"][0]["recognised"] == "4175"


async def test_assumptions_are_versions(command: Command) -> None:
    await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    again = await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    assert (again.code, again.err) == (2, "abacus: GRP/SG@1 says the same already; nothing to set\n")
    await assume(command, "99%", "2026-02")
    shown = await command("report", "assumptions", "show", "--json")
    assert [(row["assumption"], row["expected_use"], row["cost_per_point"], row["set_by"], row["reason"])
            for row in shown.json["rows"]] == [
        ("GRP/SG@1", "97%", "0.008", LOGIN, "a study"),
        ("GRP/SG@2", "99%", None, LOGIN, "a study"),
    ]  # fmt: skip


async def test_rollforward_in_every_form(command: Command, tmp_path: Path) -> None:
    words = ("report", "rollforward", "--month", "2026-01", "--by", "country", "--by", "partner")
    report = await command(*words, "--json")
    assert (report.code, report.json["tied"], report.json["over"]) == (0, True, True)
    expected = [
        {"program": "GRP", "country": "SG", "partner": "-", "opening": 0, "issued": 10_000, "exchanged_in": 0,
         "spent": 0, "exchanged_out": 0, "expired": 0, "reversed": 0, "adjusted": 0, "closing": 10_000},
        {"program": "GRP", "country": "SG", "partner": "acme", "opening": 0, "issued": 0, "exchanged_in": 0,
         "spent": 4_500, "exchanged_out": 0, "expired": 0, "reversed": 0, "adjusted": 0, "closing": -4_500},
    ]  # fmt: skip
    assert report.json["rows"] == expected
    as_csv = await command(*words, "--csv")
    assert list(csv.DictReader(io.StringIO(as_csv.out))) == [
        {name: str(value) for name, value in row.items()} for row in expected
    ]
    file = tmp_path / "books.parquet"
    as_table = await command(*words, "--parquet", str(file))
    assert as_table.out.startswith("Points in 2026-01")  # as narrow as without a terminal
    written = pyarrow.parquet.read_table(file)
    assert written.to_pylist() == expected
    assert [str(kind) for kind in written.schema.types[:4]] == ["string", "string", "string", "int64"]


async def test_books_that_do_not_tie_end_with_1(command: Command, database_url: str) -> None:
    owner = await asyncpg.connect(database_url)
    await owner.execute("update account set balance = balance + 1")
    await owner.close()
    report = await command("report", "rollforward", "--month", "2026-02", "--json")
    assert (report.code, report.json["tied"]) == (1, False)
    assert report.err == "abacus: the books do not tie to the accounts; `abacus ledger verify` names the rows\n"
    held = await command("report", "liability", "--json")
    assert (held.code, held.json["tied"]) == (1, False)


async def test_liability_at_a_date(command: Command, tmp_path: Path) -> None:
    """5,500 points × 97 % × 0.008."""
    unknown = await command("report", "liability", "--at", "2026-01-31", "--json")
    assert (unknown.json["rows"][0]["outstanding"], unknown.json["rows"][0]["liability"]) == (5_500, None)
    await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    file = tmp_path / "it's.parquet"
    report = await command("report", "liability", "--at", "2026-01", "--json", "--parquet", str(file))
    assert report.json["rows"] == [
        {"program": "GRP", "country": "SG", "members": 1, "outstanding": 5_500, "owed": 0, "pending": 0,
         "held_for_exchanges": 0, "expected_use": "97%",
         "cost_per_point": "0.008", "liability": "42.68", "currency": "SGD", "assumption": "GRP/SG@1"}
    ]  # fmt: skip
    written = pyarrow.parquet.read_table(file).to_pylist()
    assert [(str(row["cost_per_point"]), str(row["liability"])) for row in written] == [("0.008", "42.68")]


async def test_months_are_drawn_as_the_commands_that_their_page_names_print_them(command: Command) -> None:
    await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    page = REPORTS["months"]
    rows = (await command("report", *page.arguments("2026-02", date(2026, 3, 1))[1:-1])).json["rows"]
    moved, held, owed = charts_of(page, rows)
    for place, month in enumerate(("2026-01", "2026-02")):
        (row,) = [each for each in rows if each["month"] == month]
        (books,), (points,) = [
            (await command(*shlex.split(words.format(given=month))[1:], "--json")).json["rows"]
            for _, words in page.also
        ]
        assert row == {"month": month, **books, **{name: points[name] for name in list(row)[-4:]}}
        assert {line.label: line.values[place] for line in moved.lines} == {name: books[name] for name in SIGNS}
        assert held.lines[0].values[place] == points["outstanding"]
        assert str(owed.lines[0].values[place]) == points["liability"]
    assert [each["liability"] for each in rows] == ["42.68", "11.64"]


async def test_ageing_and_cohorts(command: Command) -> None:
    ageing = await command("report", "ageing", "--json")
    assert [(row["lapses"], row["points"]) for row in ageing.json["rows"]] == [("2026-08", 1_000), ("held", 500)]
    cohorts = await command("report", "cohorts", "--at", "2026-01-31", "--json")
    (row,) = cohorts.json["rows"]
    assert (row["month"], row["earned"], row["spent"], row["outstanding"]) == ("2026-01", 10_000, 4_500, 5_500)


async def test_backtest_of_a_draft(command: Command, tmp_path: Path) -> None:
    await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    draft, file = tmp_path / "sg.toml", tmp_path / "differences.parquet"
    draft.write_text(to_toml(SINGAPORE).replace('food = "2"', 'food = "2.5"'))
    words = ("rates", "backtest", str(draft), "--from", "2026-01", "--to", "2026-01-31")
    report = await command(*words, "--json", "--parquet", str(file))
    row = {"vertical": "food", "payment_type": "wallet", "tier": "member", "month": "2026-01", "awards": 1,
           "points": 10_000, "drafted": 12_500, "difference": 2_500}  # fmt: skip
    assert report.json["rows"] == [row]
    assert report.json["liability"][0]["liability"] == "19.40"
    assert report.json["unpriced"] == []
    assert pyarrow.parquet.read_table(file).to_pylist() == [row]
    as_table = await command(*words)
    assert [part for part in ("By vertical", "By payment type", "By tier", "By month") if part in as_table.out]
    before = await command("rates", "backtest", str(draft), "--from", "2025-12", "--to", "2025-12", "--json")
    assert (before.json["rows"], before.json["total"][0]["awards"]) == ([], 0)
    draft.write_text(to_toml(SINGAPORE).replace('food = "2"', 'food = "-2"'))
    assert (await command(*words)).code == 2


async def test_a_backtest_without_an_assumption_says_so(command: Command, tmp_path: Path) -> None:
    draft = tmp_path / "sg.toml"
    draft.write_text(to_toml(SINGAPORE).replace('food = "2"', 'food = "2.5"'))
    words = ("rates", "backtest", str(draft), "--from", "2026-01", "--to", "2026-01-31")
    line = "no liability for GRP/SG: no cost of a point is assumed; see `abacus report assumptions set`\n"
    told = await command(*words)
    assert ("Liability" in told.out, told.err) == (False, line)
    told = await command(*words, "--json")
    assert (told.json["liability"], told.json["without_cost"], told.err) == ([], ["GRP/SG"], line)
    await assume(command, "97%", "2026-01")  # of the use alone
    assert (await command(*words)).err == line
    await assume(command, "97%", "2026-01", "--cost-per-point", "0.008")
    told = await command(*words)
    assert ("Liability" in told.out, told.err) == (True, "")


async def test_a_backtest_of_another_expiry_policy(command: Command, tmp_path: Path) -> None:
    """Six months after the last activity become three. Of 1,500 points 500 are held."""
    await assume(command, "50%", "2026-01", "--cost-per-point", "0.01")
    draft, file = tmp_path / "sg.toml", tmp_path / "members.csv"
    draft.write_text(to_toml(SINGAPORE).replace("expiry_months = 6", "expiry_months = 3"))
    words = ("rates", "backtest", str(draft), "--from", "2026-01", "--to", "2026-01-31")
    told = (await command(*words, "--members", str(file), "--json")).json
    assert told["expiry_policy"] == {
        "now": "6 months after the last activity",
        "draft": "3 months after the last activity",
    }
    assert [
        (row["month"], row["members"], row["points"], row["draft_members"], row["draft_points"], row["liability"])
        for row in told["lapses"]
    ] == [("2026-04", 0, 0, 1, 1_000, "-5.00"), ("2026-08", 1, 1_000, 0, 0, "0.00")]
    assert file.read_text().splitlines() == [
        "member_id,program,country,points,lapses,draft_lapses",
        "bob,GRP,SG,1000,2026-08,2026-04",
    ]
    title = "Points lapse 6 months after the last activity; by the draft 3 months after the last activity"
    assert title in (await command(*words)).out
    draft.write_text(to_toml(SINGAPORE).replace('food = "2"', 'food = "2.5"'))
    assert (await command(*words, "--json")).json["lapses"] == []
    assert "Points lapse" not in (await command(*words)).out
    refused = await command(*words, "--members", str(file))
    assert (refused.code, refused.err) == (2, "abacus: --members: the draft does not change when points lapse\n")


async def test_a_parquet_file_without_rows(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "none.parquet"
    await command("report", "assumptions", "show", "--parquet", str(file))
    assert pyarrow.parquet.read_table(file).to_pylist() == []


async def test_allocation(command: Command) -> None:
    words = ("--price", "100000", "--products", "100000", "--points", "10000", "--selling-price", "1")
    report = await command("report", "allocate", *words, "--expected-use", "95%", "--decimals", "0", "--json")
    assert report.json["rows"] == [{"price": "100000", "products": "91324", "points": "8676"}]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["rollforward", "--month", "July"], "abacus: 'July' is not a month; write it as 2026-07"),
        (["rollforward", "--month", "2026-07", "--csv", "--json"], "abacus: --csv and --json: choose one"),
        (["ageing", "--parquet", "/nowhere/x"], "abacus: --parquet: there is no directory /nowhere"),
        (["liability", "--at", "soon"], "abacus: --at: 'soon' is neither a day such as 2026-07-31 nor a month"),
        (["revenue", "--month", "2026-01"], "abacus: nothing is assumed of such points; `abacus report assumptions"),
        (["revenue", "--month", "2026-01", "--allocated", "9000"], "abacus: --allocated: '9000' is not a month"),
        (
            ["assumptions", "set", "--program", "GRP", "--country", "SG", "--expected-use", "97", "--currency", "SGD",
             "--reason", "x"],
            "abacus: --expected-use: '97' is not above 0 % and at most 100 %; write it as 97%",
        ),
        (
            ["assumptions", "set", "--program", "grp", "--country", "SG", "--expected-use", "97%", "--currency", "SGD",
             "--reason", "x"],
            "abacus: --program: 'grp' is no program such as GRP",
        ),
        (
            ["assumptions", "set", "--program", "GRPX", "--country", "SG", "--expected-use", "97%", "--currency", "SGD",
             "--reason", "x"],
            "abacus: nobody issues points of GRPX in SG: ",
        ),
        (
            ["assumptions", "set", "--program", "GRP", "--country", "XX", "--expected-use", "97%", "--currency", "SGD",
             "--reason", "x"],
            "abacus: nobody issues points of GRP in XX: ",
        ),
        (
            ["assumptions", "set", "--program", "GRP", "--country", "SG", "--expected-use", "97%", "--currency", "SGD",
             "--reason", "x", "--cost-per-point=-1"],
            "abacus: --cost-per-point: '-1' is negative",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
async def test_what_is_refused(command: Command, words: list[str], line: str) -> None:
    ran = await command("report", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert len(ran.err.splitlines()) == 1
