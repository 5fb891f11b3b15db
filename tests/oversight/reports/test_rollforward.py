"""The books of a month: the column of each kind of transfer, and books that do not tie."""

import dataclasses
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.oversight.reports.accounts import balances
from abacus.oversight.reports.decide.by import By
from abacus.oversight.reports.decide.liability import ProgramBalance
from abacus.oversight.reports.decide.rollforward import SIGNS, Movement, Rollforward, tie
from abacus.oversight.reports.homes import homes
from abacus.oversight.reports.movements import rollforward
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from tests.oversight.reports.fifo import histories
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import INDONESIA, SINGAPORE
from tests.support.tries import tries

NOW = datetime(2027, 1, 1, tzinfo=UTC)
BOOK = CardBook([PublishedCard(SINGAPORE, 1), PublishedCard(INDONESIA, 1)])
JULY = Month(2026, 7)
_programs = itertools.count()


async def of(pool: Pool, month: Month, by: Sequence[By] = ()) -> Rollforward:
    async with snapshot(pool) as connection:
        return await rollforward(connection, await homes(connection, BOOK, NOW), month, frozenset(by))


def at(text: str, kind: str, points: int, **more: str) -> Move:
    return Move(kind, points, datetime.fromisoformat(text), **more)  # type: ignore[arg-type]  # a test's table


@pytest.mark.parametrize(
    ("move", "moved"),
    [
        (at("2026-07-10T00:00+08:00", "earn", 7), {"issued": 7}),
        (at("2026-07-10T00:00+08:00", "spend", -7), {"spent": 7}),
        (at("2026-07-10T00:00+08:00", "exchange_in", 7), {"exchanged_in": 7}),
        (at("2026-07-10T00:00+08:00", "exchange_out", -7), {"exchanged_out": 7}),
        (at("2026-07-10T00:00+08:00", "expire", -7), {"expired": 7}),
        (at("2026-07-10T00:00+08:00", "reverse", -7), {"reversed": 7}),
        (at("2026-07-10T00:00+08:00", "reverse", 7), {"reversed": -7}),
        (at("2026-07-10T00:00+08:00", "adjust", -7), {"adjusted": -7}),
        (at("2026-07-10T00:00+08:00", "hold", 0), {}),
        (at("2026-07-01T00:00+08:00", "earn", 7), {"issued": 7}),  # the month's first moment in Singapore
        (at("2026-06-30T23:59+08:00", "earn", 7), {"opening": 17}),
        (at("2026-07-31T23:59+08:00", "earn", 7), {"issued": 7}),
        (at("2026-08-01T00:00+08:00", "earn", 7), {"closing": 10}),  # the next month's
    ],
)
async def test_what_a_transfer_does_to_the_month(pool: Pool, move: Move, moved: dict[str, Any]) -> None:
    await write(pool, [History("bob", [at("2026-06-01T12:00+08:00", "earn", 10), move])])
    books = await of(pool, JULY)
    nothing = dict.fromkeys(SIGNS, 0)
    sums = {"opening": 10, **nothing, "closing": 10 + move.points, **moved}
    assert books.movements == [Movement("GRP", "-", "-", "-", "-", **sums)]
    assert books.tied


@pytest.mark.long
@settings(max_examples=tries(by_day=10, by_night=20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_each_month_opens_as_the_one_before_closed(pool: Pool, data: st.DataObject) -> None:
    """The last month closes at the balances of the accounts, however the books are divided."""
    program = f"P{next(_programs)}"
    members = [data.draw(histories(f"m{n}", program)) for n in range(data.draw(st.integers(1, 4)))]
    await write(pool, members)
    by = data.draw(st.sets(st.sampled_from(list(By))))
    closed: dict[tuple[str, ...], int] = {}
    for number in range(1, 13):
        books = await of(pool, Month(2026, number), sorted(by))
        assert books.tied
        movements = [row for row in books.movements if row.program == program]
        for row in movements:
            assert row.opening == closed.pop(row[:5], 0)
            moved = sum(sign * getattr(row, column) for column, sign in SIGNS.items())
            assert row.opening + moved == row.closing
        assert not any(closed.values())
        closed = {row[:5]: row.closing for row in movements}
    assert sum(closed.values()) == sum(member.balance for member in members)


async def test_by_country_tier_and_partner(pool: Pool) -> None:
    july = "2026-07-10T00:00+08:00"
    bob = [
        at(july, "earn", 10, tier="gold"),
        at(july, "earn", 5, partner="acme"),
        at(july, "spend", -3, partner="acme"),
    ]
    await write(pool, [History("bob", bob), History("eve", [at(july, "earn", 1)], program="OVO", country="ID")])
    books = await of(pool, JULY, [By.COUNTRY, By.TIER, By.PARTNER])
    assert [(*row[:5], row.issued, row.spent, row.closing) for row in books.movements] == [
        ("GRP", "SG", "-", "acme", "-", 5, 3, 2),
        ("GRP", "SG", "gold", "-", "-", 10, 0, 10),
        ("OVO", "ID", "-", "-", "-", 1, 0, 1),
    ]
    assert [(tie.program, tie.country, tie.closing, tie.ties) for tie in books.ties] == [
        ("GRP", "SG", 12, "yes"),
        ("OVO", "ID", 1, "yes"),
    ]


@pytest.mark.parametrize(
    ("move", "partner", "source"),
    [
        (Move("earn", 7), "-", "stream"),
        (Move("earn", 7, partner="acme"), "acme", "partner:acme"),
        (Move("earn", 7, under="txn:meals", source="partner:acme"), "acme", "partner:acme"),
        (Move("spend", -7, under="ops", source="person:ann"), "-", "person:ann"),
        (Move("adjust", 7, under="adjust", source="person:ann"), "-", "person:ann"),
        (Move("adjust", 7, under="import:old"), "-", "import"),
        (Move("expire", -7, under="expiry:2026-06"), "-", "clock"),
        (Move("earn", 7, under="promo", source="campaign:may|june"), "-", "campaign:may|june"),
        (Move("spend", -7, under="someone"), "-", "-"),
    ],
    ids=lambda value: f"{value.kind} {value.under} {value.source}" if isinstance(value, Move) else value,
)
async def test_by_partner_and_source(pool: Pool, move: Move, partner: str, source: str) -> None:
    """A person is no partner."""
    july = at("2026-07-10T00:00+08:00", move.kind, move.points)
    await write(pool, [History("bob", [dataclasses.replace(move, at=july.at)])])
    (row,) = (await of(pool, JULY, [By.PARTNER, By.SOURCE])).movements
    assert (row.partner, row.source) == (partner, source)


@pytest.mark.parametrize(
    ("under", "origin", "parts"),
    [("api:acme", None, ("acme", "partner:acme")), ("ops", "person:ann", ("-", "person:ann"))],
)
async def test_a_capture_without_a_source_has_that_of_its_hold(
    pool: Pool, database_url: str, under: str, origin: str | None, parts: tuple[str, str]
) -> None:
    """The explanation names who captured it, partner or person; nothing in it says which of the two."""
    july = "2026-07-10T00:00+08:00"
    named = {"explanation": {"spent_by": under.rpartition(":")[2]}}
    moves = [
        at("2026-06-10T00:00+08:00", "earn", 10),
        dataclasses.replace(at(july, "hold", 0, under=under), source=origin),
        dataclasses.replace(at(july, "spend", -7, under="capture"), **named),  # type: ignore[arg-type]  # a test's table
    ]
    await write(pool, [History("bob", moves)])
    owner = await asyncpg.connect(database_url)
    await owner.execute(
        "insert into hold (member_id, hold_id, program, country, points, until, status, held_by, placed_seq,"
        " settled_seq) values ('bob', gen_random_uuid(), 'GRP', 'SG', 7, now(), 'captured', 'x', 2, 3)"
    )
    await owner.close()
    rows = (await of(pool, JULY, [By.PARTNER, By.SOURCE])).movements
    assert [(row.partner, row.source) for row in rows if row.spent] == [parts]


async def test_months_end_by_the_clock_of_each_country(pool: Pool) -> None:
    """Half past midnight in Singapore is still June in Jakarta."""
    moment = "2026-07-01T00:30+08:00"
    await write(pool, [History("bob", [at(moment, "earn", 1)]), History("eve", [at(moment, "earn", 2)], country="ID")])
    books = await of(pool, JULY, [By.COUNTRY])
    assert [(row.country, row.opening, row.issued) for row in books.movements] == [("ID", 2, 0), ("SG", 0, 1)]


@pytest.mark.parametrize(
    "tampering",
    [
        "update transfer set points = points + 1 where seq = 1",
        "update transfer set balance_after = balance_after + 1 where seq = 2",
        "update account set balance = balance + 1",
        "delete from transfer where seq = 2",
        # Two accounts that are wrong by as much in opposite directions come to the same sum.
        "update account set balance = balance + case member_id when 'bob' then 1 else -1 end",
    ],
)
async def test_books_that_do_not_tie(pool: Pool, database_url: str, tampering: str) -> None:
    moves = [at("2026-06-10T00:00+08:00", "earn", 10), at("2026-07-10T00:00+08:00", "spend", -3)]
    await write(pool, [History("bob", moves), History("eve", moves)])
    assert (await of(pool, JULY)).tied
    owner = await asyncpg.connect(database_url)
    await owner.execute(f"set session_replication_role = replica; {tampering}")
    await owner.close()
    assert not (await of(pool, JULY)).tied


async def test_what_members_hold_and_what_they_owe(pool: Pool) -> None:
    june, july = "2026-06-10T00:00+08:00", "2026-07-10T00:00+08:00"
    eve = [at(june, "earn", 10), at(july, "reverse", -15)]
    await write(pool, [History("bob", [at(june, "earn", 10), at(july, "spend", -3)]), History("eve", eve)])
    async with snapshot(pool) as connection:
        where = await homes(connection, BOOK, NOW)
        (in_june,) = await balances(connection, where, where.end(Month(2026, 6).last_day))
        (now,) = await balances(connection, where, where.whenever())
    assert (in_june.members, in_june.outstanding, in_june.owed, in_june.ties) == (2, 20, 0, True)
    assert (now.members, now.outstanding, now.owed, now.ties) == (1, 7, -5, True)


def test_the_tie_tells_how_many_of_the_closing_points_are_pending() -> None:
    issued = Movement("GRP", "SG", "", "", "", 0, 10, 0, 0, 0, 0, 0, 0, 10)
    (tied,) = tie([issued], [ProgramBalance("GRP", "SG", 1, 10, 0, 7, 0, 10, 10, 0)])
    assert (tied.closing, tied.pending, tied.ties) == (10, 7, "yes")
