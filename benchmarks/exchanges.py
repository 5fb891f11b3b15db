"""Exchanges with the reference partner: quoted, converted and captured over HTTP, by an exchanger and a partner in
processes of their own; by a file; and movements in the exchanger's batches beside holds in transactions of
their own.

Quotes and conversions are this process's, as they would be the API's. In the files, the partner's own time is left out.
"""

import asyncio
import sqlite3
import sys
import time as clock_of_machine
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import reduce
from operator import add
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from abacus.cli.house.stack import make_ready
from abacus.core.clock import SystemClock
from abacus.exchanges.carriers.files.file_keeper import FileKeeper
from abacus.exchanges.carriers.files.file_partner import FilePartner
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.movements import hold_of
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.exchange_rows import Step, ended_links
from abacus.exchanges.exchanger import AT_ONCE, MOST, Reached
from abacus.exchanges.link_desk import Wanted
from abacus.exchanges.partner_sim.behaviour import Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.files import FolderPartner
from abacus.exchanges.types import Account, Match, PartnerPort
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.port import Status
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.object_places import Folder
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.settings import Settings
from abacus.process import look_for_garbage_seldom
from benchmarks.api import free_port
from benchmarks.pipeline import worker
from benchmarks.report import Figure, rate
from benchmarks.workbench import POSTGRES, cpu_seconds, listening, until, with_ended_children
from tests.support.exchange_house import SHOP, ExchangeHouse
from tests.support.exchanged import skymiles
from tests.support.exchanges import SKYMILES, AskedPartner, enter_partner, linking, run_programme
from tests.support.fixed_clock import FixedClock

EXCHANGES: Final = 10_000
CALLERS: Final = 128
MEMBERS: Final = 2_000
WANTED_HTTP: Final = 500
WANTED_FILES: Final = 2_000
WANTED_MOVES: Final = 2_000
_POINTS: Final = 1_000
_PREFUND: Final = Decimal(10**12)
_CONNECTIONS: Final = 8
_SIM: Final = "partner"
_CALLERS: Final = "callers"
_EXCHANGER: Final = "exchanger"

Found = TypeVar("Found")

_ENTER: Final = """
insert into account (member_id, program, country, balance, earned_total)
select 'm' || n, 'GRP', 'SG', 1000000000, 1000000000 from generate_series(0, $1::int - 1) as n
"""
_CAPTURED: Final = "select count(*) from exchange where programme = $1 and state = 'captured'"
_LEFT: Final = "select coalesce(-sum(points), 0)::bigint from transfer where kind = 'exchange_out'"
_OUT: Final = """
select coalesce(sum(points), 0)::bigint as points,
    coalesce(sum(theirs) filter (where programme = $1), 0)::bigint as theirs
from exchange where state = 'captured'
"""
_CREDITED: Final = "select coalesce(sum(amount), 0) from transfer where state = 'credited'"


class _Now(FixedClock):
    """The machine's."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class _House(ExchangeHouse):
    """With the members' own links."""

    def __init__(
        self, pool: Pool, programme: Programme, links: Mapping[str, UUID], partner: PartnerPort | None = None
    ) -> None:
        super().__init__(pool, programme, partner=partner, clock=_Now(datetime.now(UTC)))
        self._links = links

    async def _link_of(self, _: str, member_id: str) -> UUID:
        return self._links[member_id]

    async def _ended(self, links: Sequence[UUID]) -> Mapping[UUID, str]:
        return dict.fromkeys(await ended_links(self.pool, links, self.clock.now()), "ended")

    async def reach(self, _: str) -> Reached | None:
        return Reached(self.partner, lambda: self.room, side_by_side=MOST)

    async def lanes(self) -> None:
        """All that is due, in as many lanes as the exchanger has for a partner."""

        async def lane() -> None:
            while await self.exchanger.carry(self.programme.name):
                pass

        await asyncio.gather(*(lane() for _ in range(AT_ONCE)))

    async def quotes(self, number: int) -> list[UUID]:
        return await _by_callers(number, lambda n: self.quote(_POINTS, _member(n)))

    async def converted(self, quotes: Sequence[UUID]) -> list[Exchange]:
        return await _by_callers(len(quotes), lambda n: self.convert(quotes[n], f"{self.programme.name}-{n}"))


class _Took(NamedTuple):
    """Seconds, and those of processor time by process."""

    seconds: float
    cpu: Mapping[str, float]

    def told(self, number: int) -> str:
        return ", ".join(f"{name} {1e6 * used / number:,.0f}" for name, used in self.cpu.items()) + " µs of CPU each"

    def __add__(self, other: object) -> "_Took":
        if not isinstance(other, _Took):
            return NotImplemented
        return _Took(self.seconds + other.seconds, {name: used + other.cpu[name] for name, used in self.cpu.items()})


class _Watch:
    """Times works, with what they cost this process, Postgres, and other processes of ours."""

    def __init__(self, settings: Settings, this: str, others: Mapping[str, int] | None = None) -> None:
        self._postgres = listening()[urlsplit(settings.required("database_url")).port or 0]
        self._this = this
        self._others = others or {}

    async def took(self, work: Awaitable[object]) -> _Took:
        used, began = self._cpu(), clock_of_machine.perf_counter()
        await work
        seconds, now = clock_of_machine.perf_counter() - began, self._cpu()
        return _Took(seconds, {name: now[name] - used[name] for name in now})

    def _cpu(self) -> dict[str, float]:
        postgres = with_ended_children(self._postgres)
        return {
            self._this: clock_of_machine.process_time(),
            **{name: cpu_seconds(pid) for name, pid in self._others.items()},
            POSTGRES: postgres + sum(cpu_seconds(each.pid) for each in self._postgres.children()),
        }


async def measure(directory: Path, number: int = EXCHANGES) -> list[Figure]:
    look_for_garbage_seldom()  # as a worker does
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            secrets_key=new_keyring_text("bench"),
            webhooks_to_private=True,
        )
        await make_ready(settings)
        pool = await open_pool(
            settings.required("database_url"), size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True, role=None
        )
        stack.push_async_callback(pool.close)
        await pool.execute(_ENTER, MEMBERS)
        await pool.execute("vacuum analyze account")
        ledger, secret = directory / "partner.sqlite", new_secret()
        port = free_port()
        programme, links = await _agreed(pool, settings, secret, f"http://127.0.0.1:{port}")
        alone = _Watch(settings, _EXCHANGER)
        moves = await _moves(_House(pool, skymiles(name="moves"), links), alone, number)
        files = await _by_file(pool, alone, directory / "files", links, number)
        async with AsyncExitStack() as running:
            sim = await running.enter_async_context(_partner(port, secret, ledger))
            exchanger = await running.enter_async_context(worker(_EXCHANGER, settings))
            house = _House(pool, programme, links)
            watch = _Watch(settings, _CALLERS, {_EXCHANGER: exchanger.pid, _SIM: sim.pid})
            await _over_http(house, watch, max(number // 10, CALLERS), "warm")
            http = await _over_http(house, watch, number, "measured")
        by_file = reduce(add, files.values())
        return [
            Figure(
                f"exchanges out over HTTP, quoted, converted and captured, {CALLERS} callers",
                rate(number / http.seconds, "exchanges"),
                http.told(number),
                f">= {WANTED_HTTP:,}/s",
                number / http.seconds >= WANTED_HTTP,
            ),
            Figure(
                f"exchanges out by a file of {number:,} lines",
                rate(number / by_file.seconds, "exchanges"),
                by_file.told(number),
                f">= {WANTED_FILES:,}/s",
                number / by_file.seconds >= WANTED_FILES,
            ),
            *(_part(what, took, number) for what, took in files.items()),
            *moves,
            await _ties(pool, ledger, programme.name),
        ]


async def _agreed(pool: Pool, settings: Settings, secret: str, url: str) -> tuple[Programme, Mapping[str, UUID]]:
    """A programme in force with a partner that is paid in advance, and the members' links."""
    clock, secrets = SystemClock(), Secrets.of(settings.secrets_key)
    await enter_partner(pool, clock)
    await WebhookStore(pool, clock, secrets).set("skyline", f"{url}/hooks", secret)
    programme = await run_programme(pool, {**SKYMILES, "carrier": {"url": url}})
    desk = linking(pool, clock, programme, partner=AskedPartner(Match.MATCH), secrets=secrets)

    async def link(n: int) -> UUID:
        asked = await desk.ask(_member(n), Wanted(programme.name, Account(f"SKY{n:09}", "Ann Tan")), SHOP)
        return (await desk.verify(asked, None, SHOP)).link_id

    ids = await _by_callers(MEMBERS, link, callers=_CONNECTIONS)
    return programme, {_member(n): link_id for n, link_id in enumerate(ids)}


async def _over_http(house: _House, watch: _Watch, number: int, mark: str) -> _Took:
    await house.prefund(_PREFUND)
    before = await house.pool.fetchval(_CAPTURED, house.programme.name)

    async def is_captured() -> bool:
        return bool(await house.pool.fetchval(_CAPTURED, house.programme.name) >= before + number)

    async def work() -> None:
        await _by_callers(number, lambda n: house.exchange(_POINTS, _member(n), f"{mark}-{n}"))
        await until(is_captured)

    return await watch.took(work())


async def _by_file(
    pool: Pool, watch: _Watch, folder: Path, links: Mapping[str, UUID], number: int
) -> Mapping[str, _Took]:
    """The exchanger's parts of a file, in this process; what the partner does with the file is not measured."""
    carrier, rows = ByFile(str(folder), time(0)), FileRows(pool)
    programme = skymiles(name="skyfiles", carrier=carrier)
    house = _House(pool, programme, links, FilePartner(programme, carrier, rows, _Now(datetime.now(UTC))))
    await house.prefund(_PREFUND)
    await house.converted(await house.quotes(number))
    books = Books(None)
    partner = FolderPartner(Folder(folder), books, Fates(), house.clock)

    async def accounts(links: Sequence[UUID]) -> dict[UUID, Account]:
        return {each: Account(str(each)) for each in links}

    async def programmes() -> list[Programme]:
        return [programme]

    async def is_stopped() -> bool:
        return False

    async def step() -> None:
        async with pool.acquire() as connection:
            done = 1
            while done:
                tell, clock = house.hearing.tell, house.clock
                keeper = FileKeeper(rows, programmes, accounts, tell, clock, is_stopped=is_stopped)
                done = await keeper.step(connection)

    try:
        taken = await watch.took(house.lanes())
        written = await watch.took(step())
        await partner.step()
        read = await watch.took(step())
    finally:
        await books.close()
    captured = await pool.fetchval(_CAPTURED, programme.name)
    if captured != number:
        raise RuntimeError(f"{captured} of {number} exchanges were captured by the file")
    return {"entered for it": taken, "written": written, "results read, and captured": read}


async def _moves(house: _House, watch: _Watch, number: int) -> list[Figure]:
    """Holds with their rows, and captures with theirs, beside holds of the ledger alone."""
    await house.prefund(_PREFUND)
    quotes, held = await house.quotes(number), list[Exchange]()

    async def convert() -> None:
        held.extend(await house.converted(quotes))

    holding = await watch.took(convert())
    now = house.clock.now()
    steps = [Step(each, each._replace(state=State.CREDITED, credited_at=now)) for each in held]
    batches = [steps[first : first + MOST] for first in range(0, number, MOST)]
    capturing = await watch.took(_by_callers(len(batches), lambda n: house.settler.settle(batches[n]), callers=AT_ONCE))
    moves = PostgresMoves(house.pool, house.clock)
    singles = [hold_of(each._replace(exchange_id=uuid4())) for each in held]

    async def hold(n: int) -> None:
        (fate,) = await moves.move([singles[n]])
        if fate.status is not Status.POSTED:
            raise RuntimeError(f"a hold is {fate.status}")

    single = await watch.took(_by_callers(number, hold))
    both = holding + capturing
    per_s, single_per_s = 2 * number / both.seconds, number / single.seconds
    return [
        Figure(
            f"holds and captures of exchanges in batches, with their rows, {MOST} together",
            rate(per_s, "movements"),
            f"{per_s / single_per_s:.2f} of holds without rows; {both.told(2 * number)}",
            f">= {WANTED_MOVES:,}/s",
            per_s >= WANTED_MOVES,
        ),
        _part("holds, of quotes that are converted", holding, number),
        _part("captures, of exchanges that are credited", capturing, number),
        _part(f"holds without rows, each in a transaction of its own, {CALLERS} callers", single, number),
    ]


def _part(what: str, took: _Took, number: int) -> Figure:
    return Figure(f"… {what}", f"{number / took.seconds:,.0f}/s", took.told(number))


async def _ties(pool: Pool, ledger: Path, programme: str) -> Figure:
    """Whether the points that left are those of exchanges, and the partner's credits what the house says."""
    left, out = await pool.fetchval(_LEFT), await pool.fetchrow(_OUT, programme)
    with sqlite3.connect(ledger) as books:
        (credited,) = books.execute(_CREDITED).fetchone()
    is_right = (left, credited) == (out["points"], out["theirs"])
    return Figure(
        "… on both sides",
        f"{left:,} points left for {out['points']:,}; {credited:,} of theirs credited for {out['theirs']:,}",
        "",
        "the same",
        is_right,
        anywhere=True,
    )


@asynccontextmanager
async def _partner(port: int, secret: str, ledger: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The reference partner in a process of its own, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "exchanges", "partner-sim"),
        *("--port", str(port), "--key", secret, "--ledger", str(ledger)),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        if process.stdout is not None:
            await process.stdout.readline()  # it listens
        yield process
    finally:
        process.terminate()
        await process.wait()


async def _by_callers(number: int, work: Callable[[int], Awaitable[Found]], *, callers: int = CALLERS) -> list[Found]:
    """Works, each caller with the next when its last is done."""
    numbers, found = iter(range(number)), dict[int, Found]()

    async def call() -> None:
        for n in numbers:
            found[n] = await work(n)

    await asyncio.gather(*(call() for _ in range(callers)))
    return [found[n] for n in range(number)]


def _member(n: int) -> str:
    return f"m{n * 7919 % MEMBERS}"
