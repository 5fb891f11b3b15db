"""The sweep of a month's end: it runs once, goes on where it was cut off, and knows the months that are due."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from abacus.cli.examples import example_cards
from abacus.core.errors import Refused, Unavailable
from abacus.platform.postgres import Pool
from abacus.platform.sqs.port import Received
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing_sql import Expected, preview
from abacus.programs.expiry.sweep import of_all_due, of_month
from abacus.programs.expiry.sweep_run import FIND, FIND_PLANS, LapsingAccount
from tests.programs.expiry.office import AUGUST, JULY, NAMES, Line, Office, book, earned
from tests.support.memory_queue import MemoryQueue
from tests.support.slices import SLICES, home_of, neighbour


@pytest.mark.parametrize("fails_at", [1, 2, 3])
async def test_a_sweep_that_is_cut_off_goes_on_where_it_stopped(office: Office, fails_at: int) -> None:
    """Three calls: ten envelopes, ten, and one. Of a slice there are as many fewer in a call as there are slices."""
    members = [neighbour(f"m{number:05}") for number in range(10_001)]
    await office.pool.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select unnest($1::text[]), 'GRP', 'SG', 10, '2026-07-31'",
        members,
    )
    broken = Line(fails_at)
    with pytest.raises(Unavailable):
        await office.sweep(queue=broken)
    (cut,) = await office.runs.all()
    assert (cut.swept_at, cut.enqueued) == (None, 5000 // SLICES * (fails_at - 1))
    run = await office.sweep()
    assert (run.found, run.enqueued) == (10_001, 10_001)
    messages = [message for queue in (broken, office.queue) for message in await _all(queue)]
    assert len({message.body for message in messages}) == len(messages)
    if SLICES == 1:
        assert len(messages) == 21


async def test_a_second_run_is_refused_while_one_is_under_way(office: Office) -> None:
    await office.ledger.post([earned(name) for name in NAMES])

    class Slow(Line):
        async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
            with pytest.raises(Refused, match="SG 2026-07 is under way: another process"):
                await office.sweep()
            await super().send(bodies, delay_s=delay_s)

    await office.sweep(queue=Slow())
    with pytest.raises(Refused, match="all 4 are on the queue and 4 are not expired yet"):
        await office.sweep()


@pytest.mark.parametrize("again", [True, False])
async def test_what_got_lost_on_the_queue_is_sent_again(office: Office, *, again: bool) -> None:
    """With `again`, or without it once nothing has moved for an hour."""
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep(queue=Line())  # a queue that is lost
    if not again:
        office.clock.set(AUGUST + timedelta(hours=1))
    await office.sweep(again=again)
    await office.expire()
    assert set((await office.balances()).values()) == {0}


async def test_an_earlier_months_end_that_is_under_way_keeps_its_accounts(office: Office) -> None:
    await office.ledger.post([earned("bob", until_day=date(2026, 6, 30)), earned("eve")])
    june = JULY._replace(month=Month(2026, 6))
    assert (await office.sweep(june)).found == 1
    assert (await office.sweep()).found == 1
    await office.expire()
    assert set((await office.balances()).values()) == {0}
    assert [(run.month, run.expired) for run in await office.runs.all()] == [("2026-06", 1), ("2026-07", 1)]


async def test_what_is_due(office: Office) -> None:
    await office.ledger.post([earned("bob", until_day=date(2026, 5, 31)), earned("eve")])
    due = await of_all_due(office.runs, book(), None, office.clock.now())
    assert [(str(task.month), task.country) for task in due if task.country in {"SG", "ID"}] == [
        ("2026-05", "SG"),
        ("2026-06", "ID"),  # it is not August there yet
        ("2026-07", "SG"),
    ]
    for task in due:
        await office.sweep(task)
    await office.expire()
    assert await of_all_due(office.runs, book(), None, office.clock.now()) == []


@pytest.mark.parametrize(
    ("month", "country", "words"),
    [
        (Month(2026, 8), "SG", "--month: 2026-08 is not over; it will be at 2026-08-31T16:00:00"),
        (Month(2026, 7), "ID", "--month: 2026-07 is not over; it will be at 2026-07-31T17:00:00"),
        (Month(2026, 7), "XX", "there is no rate card of 'XX'"),
        (Month(2027, 1), None, "--month: 2027-01 is not over"),
    ],
)
def test_what_cannot_be_run(month: Month, country: str | None, words: str) -> None:
    with pytest.raises(Refused, match=words):
        of_month(book(), month, country, AUGUST)


def test_a_country_whose_first_card_is_still_to_come_is_left_out() -> None:
    cards = [PublishedCard(card, 1) for card in example_cards() if card.scope in {"SG", "MY"}]
    later = [
        PublishedCard(replace(each.card, effective_from=datetime(2027, 1, 1, tzinfo=UTC)), 1)
        if each.card.scope == "MY"
        else each
        for each in cards
    ]
    assert [task.country for task in of_month(CardBook(later), Month(2026, 7), None, AUGUST)] == ["SG"]
    with pytest.raises(Refused, match="before the first rate card of MY"):
        of_month(CardBook(later), Month(2026, 7), "MY", AUGUST)


async def test_a_preview_changes_nothing(office: Office) -> None:
    await office.ledger.post(
        [
            earned("bob", until_day=date(2026, 6, 30)),
            earned("eve"),
            earned("jane"),
            earned("jane", program="OVO", key="k"),
        ]
    )
    with_earlier = await preview(office.pool, "SG", Month(2026, 7), with_earlier=True)
    assert with_earlier == [Expected("SG", "GRP", 3, 300, 0), Expected("SG", "OVO", 1, 100, 0)]
    alone = await preview(office.pool, "SG", Month(2026, 7), with_earlier=False)
    assert alone == [Expected("SG", "GRP", 2, 200, 0), Expected("SG", "OVO", 1, 100, 0)]
    assert await office.runs.all() == []


async def test_finding_uses_the_index(pool: Pool) -> None:
    await pool.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select 'm' || n, 'GRP', 'SG', 10, date '2026-01-31' + (n % 300) from generate_series(1, 20000) n"
    )
    after = LapsingAccount(date(2026, 1, 31), "m1", "GRP")
    query, *values = FIND(country="SG", **after._asdict(), last_day=date(2026, 2, 28), most=5000)
    async with pool.acquire(schema=await home_of(pool, "m1")) as connection, connection.transaction():
        await connection.execute(FIND_PLANS)
        plan = await connection.fetch(f"explain {query}", *values)
    text = "\n".join(row[0] for row in plan)
    assert "account_country_expires_on_member_id_program_idx" in text
    assert "-> Sort" not in text.replace("  ", " ")
    assert "Seq Scan" not in text


async def _all(queue: MemoryQueue) -> list[Received]:
    messages: list[Received] = []
    while len(queue) > len(messages) and (more := await queue.receive()):
        messages += more
    return messages
