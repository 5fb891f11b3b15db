"""Asking for offers: one process with 100,000 offers in force, and a million members who are invited to some."""

import json
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from abacus.cli.house.stack import make_ready
from abacus.documents.decide.states import Status
from abacus.engage.offers.decide.document import to_document
from abacus.engage.offers.decide.offer import Offer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.signals.rules.decide.document import rule_document
from benchmarks.api import request
from benchmarks.callers import entered_partner
from benchmarks.offer_examples import COUNTRY, INVITED_TO, offers
from benchmarks.offer_process import InProcess, asked_in_process, offer_process
from benchmarks.offer_questions import LISTED, bodies
from benchmarks.own_core import Served, core_left_free
from benchmarks.report import Figure, rate

OFFERS: Final = 100_000
FEW: Final = 1_000
MEMBERS: Final = 1_000_000
CALLERS: Final = 32
SECONDS: Final = 10.0

WANTED_PER_CORE: Final = 5_000
WANTED_P99_MS: Final = 20
WANTED_START_S: Final = 10
WANTED_LISTING_MS: Final = 1
MOST_MEMORY: Final = 600 * 1024 * 1024
MOST_GROWTH: Final = 2
_PACED: Final = 0.7  # of what a core answers
_CALM: Final = 0.5
_LOAD: Final = 0.7  # of a core

_INVITE: Final = """
insert into offer_invitation (member_id, offers)
select 'm' || lpad(each::text, 8, '0'),
    array(select 1 + (each::bigint * 7919 + place * 104729) % $2::bigint from generate_series(1, $3) place)::integer[]
from generate_series(0, $1 - 1) each
"""
_ENTER: Final = f"""
insert into account (member_id, program, country, balance)
select 'm' || lpad(each::text, 8, '0'), 'GRP', '{COUNTRY}', each % 1000 from generate_series(0, $1 - 1) each
"""

_CLEAR: Final = "; ".join(
    f"alter table {table} disable trigger user; delete from {table}; alter table {table} enable trigger user"
    for table in ("offer", "offer_number")
)
_COLUMNS: Final = (
    *("name", "version", "country", "starts_at", "ends_at", "document", "status"),
    *("drafted_at", "drafted_by", "changed_at", "changed_by", "approved_by", "approved_at"),
)


class _Runs(NamedTuple):
    """What was measured with so many offers, and beside them."""

    number: int
    started_s: float
    memory: int
    with_few: Served
    by_framework: Served
    hot: Served
    listing: Served
    steady: Served
    calm: Served
    loaded: Served
    in_process: InProcess


async def measure(
    directory: Path, number: int = OFFERS, members: int = MEMBERS, seconds: float = SECONDS
) -> list[Figure]:
    async with AsyncExitStack() as stack:
        core = stack.enter_context(core_left_free())
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(database_url=embedded.database_url, sqs_endpoint_url=embedded.sqs_endpoint_url)
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=1, role=None)
        stack.push_async_callback(pool.close)
        key = await entered_partner(pool, awards=True, may_use_offers=True)
        await pool.execute(_ENTER, members)
        await pool.execute(_INVITE, members, number, INVITED_TO)
        await put_in_force(pool, FEW)
        await _settle(pool)
        asked, listed = _requests(key, members, 1), _requests(key, members, LISTED)
        async with offer_process(settings, core=core) as few:
            await few.serve(asked, CALLERS, seconds / 2)
            with_few = await few.serve(asked, CALLERS, seconds)
        await pool.execute(_CLEAR)
        await put_in_force(pool, number)
        await _settle(pool)
        async with offer_process(settings, ("benchmarks.offers_by_framework",), core=core) as plain:
            await plain.serve(asked, CALLERS, seconds / 2)
            by_framework = await plain.serve(asked, CALLERS, seconds)
        async with offer_process(settings, core=core) as asking:
            await asking.serve(asked, CALLERS, seconds / 2)
            hot = await asking.serve(asked, CALLERS, seconds)
            listing = await asking.serve(listed, CALLERS, seconds)
            steady = await asking.paced(asked, _PACED * hot.per_core, 3 * seconds)
            calm = await asking.paced(asked, _CALM * hot.per_core, seconds)
            loaded = await asking.paced(asked, _LOAD * calm.per_core, seconds)
            memory = asking.process.memory_info().rss
            started_s = asking.started_s
        alone = await asked_in_process(settings, key, members, seconds)
        return _figures(
            _Runs(number, started_s, memory, with_few, by_framework, hot, listing, steady, calm, loaded, alone)
        )


def _figures(runs: _Runs) -> list[Figure]:
    number, started_s, memory, with_few, by_framework, hot, listing, steady, calm, loaded, alone = runs
    growth = hot.cpu_us / with_few.cpu_us
    return [
        Figure(
            f"qualify in the process, {number:,} offers, one request in ten of a cold member",
            f"{rate(alone.per_core, 'requests')} a core, {alone.one:.0f} µs of CPU",
            f"{hot.cpu_us / alone.one:.2f} times that over HTTP",
            f">= {WANTED_PER_CORE:,}/s a core",
            alone.per_core >= WANTED_PER_CORE,
        ),
        Figure(
            f"… a listing of {LISTED} products",
            f"{alone.page / 1000:.2f} ms of CPU",
            f"{alone.page / alone.one:.1f} times one product",
            f"<= {WANTED_LISTING_MS} ms",
            alone.page <= 1000 * WANTED_LISTING_MS,
        ),
        Figure(
            "qualify over HTTP",
            f"{rate(hot.per_core, 'requests')} a core, {hot.cpu_us:.0f} µs of CPU",
            f"{by_framework.cpu_us / hot.cpu_us:.2f} times those by the framework",
        ),
        Figure("… by the framework's route", f"{by_framework.cpu_us:.0f} µs of CPU"),
        Figure(
            f"… with {FEW:,} offers",
            f"{with_few.cpu_us:.0f} µs of CPU",
            f"{growth:.2f} times that with {number:,}",
            f"<= {MOST_GROWTH} times",
            growth <= MOST_GROWTH,
            anywhere=True,
        ),
        Figure(
            f"… so many that the process is busy {_LOAD:.0%} of the time",
            f"{rate(loaded.load.per_s, 'requests')}, p99 {loaded.load.p99_ms:.1f} ms",
            f"busy {loaded.busy:.0%} of the time: {loaded.cpu_us:.0f} µs of CPU each",
        ),
        Figure(
            f"… at {_PACED:.0%} of what a core answers to {CALLERS} callers",
            f"{rate(steady.load.per_s, 'requests')}, p99 {steady.load.p99_ms:.1f} ms",
            f"the process is busy {steady.busy:.0%} of the time: {steady.cpu_us:.0f} µs of CPU each; the callers"
            f" themselves are late by {steady.load.late_p99_ms:.1f} ms",
            f"p99 < {WANTED_P99_MS} ms",
            steady.load.p99_ms < WANTED_P99_MS,
        ),
        Figure(
            f"… at {_CALM:.0%}",
            f"{rate(calm.load.per_s, 'requests')}, p99 {calm.load.p99_ms:.1f} ms",
            f"busy {calm.busy:.0%} of the time: {calm.cpu_us:.0f} µs of CPU each",
        ),
        Figure(
            f"… a listing of {LISTED} products",
            f"{listing.cpu_us / 1000:.2f} ms of CPU",
            f"{listing.cpu_us / hot.cpu_us:.1f} times one product",
        ),
        Figure(
            f"start with {number:,} offers",
            f"{started_s:.1f} s",
            "",
            f"<= {WANTED_START_S} s",
            started_s <= WANTED_START_S,
        ),
        Figure(
            f"memory with {number:,} offers",
            f"{memory / 1024 / 1024:.0f} MiB",
            "",
            "<= 600 MiB",
            memory <= MOST_MEMORY,
        ),
    ]


async def put_in_force(pool: Pool, number: int) -> None:
    """So many offers hold from now on, with the numbers from 1 on: written as the store writes them, because to approve
    a hundred thousand takes long.
    """
    now = datetime.now(UTC)
    made = (
        replace(offer, when=rule_document(rule) if rule is not None else None, ends_at=now.replace(year=now.year + 1))
        for offer, rule in offers(number)
    )
    await put_these_in_force(pool, made)


async def put_these_in_force(pool: Pool, made: Iterable[Offer]) -> None:
    now = datetime.now(UTC)
    approved = Status.APPROVED.value, now, "bench", now, "bench", "bench", now
    async with pool.acquire() as connection:
        await connection.execute("alter table offer disable trigger user")
        await connection.copy_records_to_table(
            "offer",
            columns=_COLUMNS,
            records=[
                (each.name, 1, each.country, each.starts_at, each.ends_at, json.dumps(to_document(each)), *approved)
                for each in made
            ],
        )
        await connection.execute("alter table offer enable trigger user")
        await connection.execute(
            "insert into offer_number (name, number) select name, substring(name from 7)::integer from offer"
        )
    await pool.execute("vacuum analyze offer")
    await pool.execute("vacuum analyze offer_number")


async def _settle(pool: Pool) -> None:
    """What was entered is written down and tidied now: else the server does so beside what is measured."""
    for table in ("account", "offer_invitation", "offer", "offer_number"):
        await pool.execute(f"vacuum (freeze, analyze) {table}")
    await pool.execute("checkpoint")


def _requests(key: str, members: int, items: int) -> Iterator[bytes]:
    return (request("POST", "/v1/offers/qualify", key, body) for body in bodies(members, items))
