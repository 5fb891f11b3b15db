"""Delayed awards of campaigns that are all due at one instant, while rides go on to be decided by the same process."""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from abacus.cli.examples import example_cards
from abacus.core.errors import Unavailable
from abacus.engage.actions.types import PlannedAction
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.effects import actions_of
from abacus.engage.campaigns.decide.run import Matched, Run, RunOutcome
from abacus.engage.campaigns.decide.worth import Worth
from abacus.engage.limits.types import Amounts
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.events.types import Event
from benchmarks import rides_load
from benchmarks.campaigns import CAMPAIGNER
from benchmarks.deciding import deciding
from benchmarks.offers_in_force import put_in_force, rides_source
from benchmarks.report import Figure, rate
from benchmarks.ride_offers import POINTS, SOURCE, TYPE, member_name
from benchmarks.services import real_services, rooms
from benchmarks.throughput import Waited
from benchmarks.workbench import POSTGRES, Workbench, workbench

CAMPAIGNS: Final = 1_000
ACCOUNTS: Final = 60_000
RIDES_PER_S: Final = 500
WANTED_S: Final = 60
COPIED_PER_S: Final = 10_000  # that much slower a machine makes them too late
LEAD_S: Final = 60.0
IDLE_S: Final = 20.0  # the least time in which nothing is due yet
HANDED_WITHIN_S: Final = 900.0
_AT_ONCE: Final = 50_000
_LIVE: Final = "live"
_CARDS: Final = {card.scope: PublishedCard(card, 1) for card in example_cards()}

_WAITS: Final = """
select exists (
    select from action where receiver = 'awards' and done_at is null and refused_at is null and due_at <= $1
)
"""
_HANDED: Final = """
select count(*), extract(epoch from max(done_at) - $1)::float8 from action where due_at = $1
"""
_DECIDED: Final = f"""
select percentile_disc(array[0.5, 0.99]) within group (
    order by extract(epoch from decided_at - (document ->> 'occurred_at')::timestamptz)::float8
)
from action where decided_at >= $1 and decided_at < $2 and key like '%:{_LIVE}-%'
"""


class Handed(NamedTuple):
    """How many awards were handed over in so many seconds, the CPU meanwhile, and how long rides took to be decided
    before and then.
    """

    awards: int
    seconds: float
    cpu: Mapping[str, float]
    idle: Waited
    meanwhile: Waited


async def measure(actions: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(real_services())
        settings = await stack.enter_async_context(rooms(services, 0))
        await stack.enter_async_context(rides_source(settings, ACCOUNTS))
        campaigns = await put_in_force(settings, CAMPAIGNS)
        bench = await stack.enter_async_context(workbench(settings))
        rides = await stack.enter_async_context(deciding(settings, bench.pool))
        given = rides_load.arguments(_LIVE, CAMPAIGNS, ACCOUNTS, rate=RIDES_PER_S)
        due_at = datetime.now(UTC) + timedelta(seconds=LEAD_S + actions / COPIED_PER_S)
        await _write(bench.pool, campaigns, actions, due_at)
        async with bench.workers({CAMPAIGNER: 1}):
            async with bench.sending(given, name=rides_load.NAME, module=rides_load.MODULE):
                handed = await _handed(bench, due_at)
            await rides.settled()
    if handed.awards != actions:
        raise Unavailable(CAMPAIGNER, f"{handed.awards:,} of {actions:,} awards were due")
    slower = handed.meanwhile.p99 / handed.idle.p99
    return [
        Figure(
            f"{actions:,} delayed awards due at one instant, until the last is on the award queue, one campaigner",
            f"{handed.seconds:.1f} s",
            f"{rate(actions / handed.seconds, 'awards')}; CPU of each: {_shares(handed)}",
            f"<= {WANTED_S} s",
            handed.seconds <= WANTED_S,
        ),
        Figure(
            f"… {RIDES_PER_S} rides/s meanwhile, produced to decided, median and p99",
            str(handed.meanwhile),
            f"{slower:.1f} times the p99 before, {handed.idle}",
        ),
    ]


async def _write(pool: Pool, campaigns: Sequence[Campaign], actions: int, due_at: datetime) -> None:
    """Copy them into the table as they stand there when they wait."""
    for first in range(0, actions, _AT_ONCE):
        rows = _rows(campaigns, range(first, min(actions, first + _AT_ONCE)), due_at)
        async with pool.acquire() as connection:
            await connection.copy_records_to_table(
                "action", records=rows, columns=[*PlannedAction._fields, "decided_at"], timeout=600
            )
    await pool.execute("vacuum analyze action", timeout=600)
    print(f"  {actions:,} actions wait", file=sys.stderr, flush=True)


def _rows(campaigns: Sequence[Campaign], numbers: range, due_at: datetime) -> Iterator[tuple[Any, ...]]:
    decided_at = datetime.now(UTC) - timedelta(hours=1)
    for number in numbers:
        campaign = campaigns[number % len(campaigns)]
        member = member_name(number % ACCOUNTS)
        event = Event(SOURCE, TYPE, f"due-{number}", member, campaign.country, decided_at, {})
        (step,) = campaign.steps
        matched = Matched(campaign, member, event, (), {step.number: Worth(POINTS, _CARDS[campaign.country])})
        run = Run(matched, RunOutcome.DONE, None, None, (step.number,), Amounts(1, POINTS, 0))
        for due in actions_of(run, decided_at):
            yield (*due._replace(due_at=due_at), decided_at)


async def _handed(bench: Workbench, due_at: datetime) -> Handed:
    """Wait for the instant, and then until the last of them is handed over."""
    begins = datetime.now(UTC) + timedelta(seconds=IDLE_S / 2)  # it has started by then
    left = (due_at - begins).total_seconds()
    if left < IDLE_S / 2:
        raise Unavailable("the machine", "the actions were not written before they were due")
    await asyncio.sleep((due_at - datetime.now(UTC)).total_seconds())
    cpu = await bench.cpu()
    async with asyncio.timeout(HANDED_WITHIN_S):
        while await bench.pool.fetchval(_WAITS, due_at, timeout=600):  # noqa: ASYNC110  # it is another process that gets there
            await asyncio.sleep(1.0)
    used = {name: seconds - cpu.get(name, 0.0) for name, seconds in (await bench.cpu()).items()}
    awards, seconds = await bench.pool.fetchrow(_HANDED, due_at, timeout=600)
    ended = due_at + timedelta(seconds=seconds)
    idle = Waited(*await bench.pool.fetchval(_DECIDED, begins, due_at, timeout=600))
    meanwhile = Waited(*await bench.pool.fetchval(_DECIDED, due_at, ended, timeout=600))
    return Handed(awards, seconds, used, idle, meanwhile)


def _shares(handed: Handed) -> str:
    """Microseconds of each process, those for the rides included."""
    names = (CAMPAIGNER, f"{POSTGRES}, for the {CAMPAIGNER}", f"{POSTGRES}, for itself", "elasticmq")
    return "; ".join(f"{name} {handed.cpu.get(name, 0.0) / handed.awards * 1e6:.0f} µs" for name in names)
