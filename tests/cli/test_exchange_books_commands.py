"""Finance keeps the books with partners by commands."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.documents.stated import Change
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme_reader import parse_programme
from abacus.exchanges.position_rows import EntryDraft, locked_standings, write_entries
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.publications import exchange_publications
from abacus.exchanges.types import PartnerStatement, StatementLine, StatementState
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from tests.support.commands import Ran, abacus
from tests.support.exchanges import NOW, SKYMILES, enter_partner, run_programme
from tests.support.staff import hire

pytestmark = [pytest.mark.once, pytest.mark.long]

Command = Callable[..., Awaitable[Ran]]
EMPLOYED: Final = {"fin": "finance:SG", "kim": "finance:ID", "sam": "support:SG", "ops": "operator", "ada": "admin"}
BEFORE: Final = NOW - timedelta(days=70)
LONG_AGO: Final[dict[str, Any]] = {**SKYMILES, "starts_at": BEFORE.isoformat()}


@pytest.fixture
async def command(pool: Pool, database_url: str) -> Command:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    await enter_partner(pool, SystemClock())
    tokens = {name: await hire(pool, name, role) for name, role in EMPLOYED.items()}

    async def run(*words: object, by: str = "fin") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": tokens[by], "COLUMNS": "300"}
        return await abacus("exchanges", *map(str, words), env=env)

    return run


async def test_a_month_is_billed_invoiced_and_paid(command: Command, pool: Pool) -> None:
    programme = await run_programme(pool, LONG_AGO)
    async with pool.acquire() as connection, connection.transaction():
        locked = await locked_standings(connection, ["skymiles"])
        captured = EntryDraft("skymiles", EntryKind.CAPTURED, Decimal("30.00"), "SGD", "app", points=2500, theirs=1000)
        await write_entries(connection, locked, [captured], BEFORE)
    month = str(Month.of(BEFORE.astimezone(programme.zone).date()))
    assert (await command("books", "bill", "skymiles", month, by="sam")).code == 2
    assert "may not close books in SG" in (await command("books", "bill", "skymiles", month, by="kim")).err
    shown = (await command("books", "bill", "skymiles", month)).out
    assert "the house owes 30.00" in shown
    again = (await command("books", "bill", "skymiles", month, "--json")).json
    assert (again["due"], again["out"]["exchanges"]) == ("30.00", 1)
    assert (await command("books", "invoice", "skymiles", month, "INV-7", "31.00", "--json")).json["ties"] is False
    paid = await command("books", "pay", "skymiles", "T-1", "100", "--on", month + "-28", "--month", month)
    assert "the balance is 100" in paid.out
    assert (await command("books", "pay", "skymiles", "T-1", "100", "--on", month + "-28")).code == 2
    [bill] = (await command("books", "bills", "skymiles", "--json")).json["bills"]
    assert bill["month"] == month
    assert "INV-7" not in (await command("books", "bills", "skymiles")).err
    assert "low" in (await command("books", "balances")).out
    assert (await command("books", "balances", "--json", by="kim")).json == []
    assert "'1e' is not a sum" in (await command("books", "pay", "skymiles", "x", "1e", "--on", "2026-01-01")).err
    assert (await command("books", "bills", "nothing")).code == 1


async def test_a_break_is_taken_and_closed_with_a_reason(command: Command, pool: Pool) -> None:
    programme = await run_programme(pool, LONG_AGO)
    line = StatementLine("x", StatementState.CREDITED, 7, NOW)
    statement = PartnerStatement((NOW - timedelta(days=3)).date(), complete=True, lines=[line])
    await BooksDesk(pool, SystemClock()).match(programme, statement)
    [found] = (await command("breaks", "list", "--json")).json
    assert (found["kind"], found["about"], found["owner"]) == ("not-ours", "x", None)
    assert (await command("breaks", "list", "--json", by="kim")).json == []
    assert (await command("breaks", "take", found["break_id"], by="sam")).code == 2
    await command("breaks", "take", found["break_id"])
    closed = await command(
        "breaks", "close", found["break_id"], "--reason", "a test of theirs", "--correction", "-0.07"
    )
    assert "the balance is corrected by -0.07 SGD" in closed.out
    assert (await command("breaks", "close", found["break_id"], "--reason", "again")).code == 2
    assert "person:fin" in (await command("breaks", "list", "--closed")).out
    assert (await command("breaks", "take", "x")).code == 2


async def test_a_file_is_made_before_its_cut_off(command: Command, pool: Pool, tmp_path: Path) -> None:
    by_file = {k: v for k, v in SKYMILES.items() if k != "in"} | {
        "carrier": {"place": str(tmp_path), "cut_off": "17:00"}
    }
    await run_programme(pool, by_file)
    assert (await command("files", "make", "skymiles")).code == 2  # finance runs no jobs
    made = (await command("files", "make", "skymiles", "--json", by="ops")).json
    assert (made["lines"], made["seq"]) == (0, 1)
    assert "to be written" in (await command("files", "list", "skymiles")).out


async def test_sending_goes_on_once_the_statements_that_anybody_reads_are_read(command: Command, pool: Pool) -> None:
    programme = await run_programme(pool)
    around = await exchange_publications(pool, NOW, to_private=True)
    draft = parse_programme({**SKYMILES, "name": "drafted"}, around)
    await ProgrammeStore(pool).draft([draft], around, Change("person:ann", NOW))
    now = SystemClock().now()
    assert (await command("restored", "--since", (now - timedelta(minutes=1)).isoformat(), by="ada")).code == 0
    refused = await command("matched", by="ada")
    assert (refused.code, "skymiles of" in refused.err, "drafted" in refused.err) == (2, True, False)
    desk = BooksDesk(pool, SystemClock())
    for day in {(now - timedelta(minutes=1)).date(), SystemClock().now().date()}:
        await desk.match(programme, PartnerStatement(day, complete=False, lines=[]))
    assert (await command("matched", by="ada")).code == 0
