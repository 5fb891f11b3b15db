"""Postgres goes away and comes back; its transactions are refused, or fall into deadlocks with a stranger's."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from random import Random
from typing import Any, Final

from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available
from abacus.platform.postgres import passing_failures
from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments, in_turn
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.services import Restart, daemon, postgres_answers

_MANNERS: Final = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


@asynccontextmanager
async def _restart(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    restart, manners = Restart.of(daemon("postgres")), in_turn(tuple(_MANNERS), rng)

    async def strike(struck: Struck) -> None:
        manner = next(manners)
        await restart.end(_MANNERS[manner])
        await asyncio.sleep(rng.uniform(0, 1.5))
        restart.start()
        await postgres_answers(ground.settings.required("database_url"))
        struck[manner] += 1

    async with at_moments(strike, rng, every_s=(2, 5)) as struck:
        yield struck


# A sequence counts transactions that are rolled back, too.
_REFUSING: Final = """
create sequence if not exists chaos_refused_deadlock;
create sequence if not exists chaos_refused_serialization;
create or replace function chaos_refuse() returns trigger language plpgsql security definer as $$
begin
    if random() < {chance} then
        perform nextval('chaos_refused_' || tg_argv[0]);
        raise exception 'refused by chance' using errcode = tg_argv[1];
    end if;
    return null;
end $$;
create or replace trigger chaos_deadlock after insert on transfer
    for each statement execute function chaos_refuse('deadlock', '40P01');
create or replace trigger chaos_serialization after insert or update on account
    for each statement execute function chaos_refuse('serialization', '40001');
"""
_REFUSING_NO_MORE: Final = """
drop trigger if exists chaos_deadlock on transfer;
drop trigger if exists chaos_serialization on account;
drop function if exists chaos_refuse;
"""
_REFUSED: Final = "select case when is_called then last_value else 0 end from chaos_refused_{of}"
_CHANCE: Final = 0.1
_CUT: Final = 0.01
_UNKNOWN: Final = 0.1


@asynccontextmanager
async def _refuse(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    struck: Struck = Counter()

    async def count(struck: Struck) -> None:
        for of in ("deadlock", "serialization"):
            struck[of] = await _patiently(lambda: ground.pool.fetchval(_REFUSED.format(of=of)))  # noqa: B023  # awaited

    await _patiently(lambda: ground.pool.execute(_REFUSING.format(chance=_CHANCE)))
    try:
        async with at_moments(count, rng, every_s=(1, 1)) as struck:
            yield struck
    finally:
        await _patiently(lambda: ground.pool.execute(_REFUSING_NO_MORE))
        await count(struck)


_HOT: Final = "select member_id, program from account order by last_seq desc limit 12"
_LOCK: Final = "select from account where member_id = $1 and program = $2 for update"
_DEADLOCKS: Final = "select deadlocks from pg_stat_database where datname = current_database()"


@asynccontextmanager
async def _rogue(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    """A stranger takes locks the other way round. Postgres chooses which of the two has to give way."""
    seen = await _patiently(lambda: ground.pool.fetchval(_DEADLOCKS))

    async def strike(struck: Struck) -> None:
        with suppress(Unavailable):  # it was told to give way, or Postgres is away
            async with passing_failures(), ground.pool.acquire() as connection, connection.transaction():
                for account in sorted(map(tuple, await connection.fetch(_HOT)), reverse=True):
                    await connection.execute(_LOCK, *account)
                    await asyncio.sleep(0.03)
        nonlocal seen
        sees = await _patiently(lambda: ground.pool.fetchval(_DEADLOCKS))
        struck["deadlock"] += sees - seen if sees >= seen else sees  # a crash of Postgres sets its counts to 0
        seen = sees

    async with at_moments(strike, rng, every_s=(0.0, 0.3)) as struck:
        yield struck


@asynccontextmanager
async def _cut(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    proxy = ground.proxies.postgres

    async def strike(_: Struck) -> None:
        proxy.cut_all()

    proxy.faults = replace(proxy.faults, cut=_CUT)
    try:
        async with at_moments(strike, rng, every_s=(1, 4)):
            yield Counter()
    finally:
        proxy.faults = replace(proxy.faults, cut=0.0)


@asynccontextmanager
async def _silence(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    proxy = ground.proxies.postgres

    async def strike(struck: Struck) -> None:
        proxy.silence()
        try:
            await asyncio.sleep(rng.uniform(2, 6))
        finally:
            proxy.speak()
        struck["silent"] += 1

    async with at_moments(strike, rng, every_s=(1, 4)) as struck:
        yield struck


@asynccontextmanager
async def _unknown_commits(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    proxy = ground.proxies.postgres
    proxy.faults = replace(proxy.faults, unknown_commit=_UNKNOWN)
    try:
        yield Counter()
    finally:
        proxy.faults = replace(proxy.faults, unknown_commit=0.0)


async def _patiently(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Ask until Postgres answers: another fault may have taken it away."""

    async def attempt() -> Any:
        async with passing_failures():
            return await ask()

    return await until_available(attempt, WorkerHealth("chaos"))


POSTGRES_RESTART: Final = Fault(
    "postgres-restart", "Postgres stopped (fast, or immediate, which is a crash) and started again", _restart, lasts=1.5
)
POSTGRES_REFUSES: Final = Fault(
    "postgres-refuses", "one posting statement in ten fails with 40P01 or 40001, by a trigger", _refuse
)
DEADLOCKS: Final = Fault("deadlocks", "a stranger's session locks the busiest accounts in the opposite order", _rogue)
CUTS: Final = Fault(
    "postgres-cuts",
    "connections cut within a query (1% of them), and all of them every 1 to 4 s",
    _cut,
    needs=frozenset({Need.PROXIES}),
    counts=("cut", "cut_all"),
)
SILENCE: Final = Fault(
    "postgres-silent",
    "everything from and to Postgres is lost for 2 to 6 s, and its connections stay, every 1 to 4 s",
    _silence,
    needs=frozenset({Need.PROXIES}),
)
UNKNOWN_COMMITS: Final = Fault(
    "unknown-commits",
    "a commit carried out and never acknowledged: 10% of them",
    _unknown_commits,
    needs=frozenset({Need.PROXIES}),
    counts=("unknown_commit",),
)
