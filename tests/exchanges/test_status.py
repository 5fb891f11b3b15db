"""What people have to look at: the worst is told, and measured."""

from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from abacus.exchanges.books.break_rows import OpenBreaks
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import Break, BreakKind
from abacus.exchanges.exchange_rows import enter
from abacus.exchanges.status import ExchangeState, OpenExchanges, exchange_state, measure, told_of
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchanged import exchange
from tests.support.exchanges import CARDS, NOW, enter_partner, run_programme
from tests.support.fixed_clock import FixedClock

AT = datetime(2026, 7, 10, tzinfo=UTC)
LONG_AGO = AT - timedelta(days=2)
AN_HOUR_AGO = AT - timedelta(hours=1)


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (ExchangeState([OpenExchanges("skymiles", State.SENT, 3, 0)]), None),
        (ExchangeState([OpenExchanges("skymiles", State.SENT, 3, 1)]), "1 exchanges are late"),
        (ExchangeState([OpenExchanges("skymiles", State.ASIDE, 2, 1)]), "2 exchanges do not tie"),
        (ExchangeState([], restored_to=AT), "nothing is sent to partners"),
        (ExchangeState([], low={"skymiles": True, "bank": False}), "little money is left at partners: skymiles"),
        (ExchangeState([], breaks=[OpenBreaks("skymiles", "amount", 4, AN_HOUR_AGO)]), None),
        (ExchangeState([], breaks=[OpenBreaks("skymiles", "amount", 4, LONG_AGO)]), "4 breaks with partners"),
        (ExchangeState([], unanswered={"skymiles": AN_HOUR_AGO}), None),
        (ExchangeState([], unanswered={"skymiles": LONG_AGO}), "files are not answered"),
    ],
)
def test_the_worst_is_told(state: ExchangeState, fault: str | None) -> None:
    problem = told_of(state, AT).problem
    assert (problem is None) == (fault is None)
    assert fault is None or (problem is not None and problem.fault.startswith(fault))


async def test_what_is_read_is_measured(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, clock)
    programme = await run_programme(pool)
    await enter(pool, [exchange(State.ASIDE)])
    await BooksDesk(pool, clock).note(programme, [Break(BreakKind.AMOUNT, "x", None, "1", "2")])
    await pool.execute(
        "insert into exchange_file (name, programme, day, seq, made_at, lines, amount)"
        " values ('f', 'skymiles', $1, 1, $2, 0, 0)",
        *(NOW.date(), NOW - timedelta(hours=2)),
    )
    found = await exchange_state(pool, clock)
    assert (found.count(State.ASIDE), found.low, found.unanswered) == (
        *(1, {"skymiles": True}),
        {"skymiles": NOW - timedelta(hours=2)},
    )
    await measure(pool, clock)
    of = {"programme": "skymiles"}
    assert REGISTRY.get_sample_value("abacus_exchange_prefund_low", of) == 1
    assert REGISTRY.get_sample_value("abacus_exchange_breaks_open", {**of, "kind": "amount"}) == 1
    assert REGISTRY.get_sample_value("abacus_exchange_files_oldest_seconds", of) == 7200
