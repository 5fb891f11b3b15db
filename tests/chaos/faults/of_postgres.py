"""Postgres goes away and comes back; its transactions are refused, or fall into deadlocks with a stranger's."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Final

import asyncpg

from tests.chaos.faults.fault import Fault, Struck, at_moments
from tests.chaos.house import House
from tests.chaos.services import Restart, daemon, postgres_answers

_MANNERS: Final = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


@asynccontextmanager
async def _restart(house: House, rng: Random) -> AsyncIterator[Struck]:
    restart = Restart.of(daemon("postgres"))

    async def strike(struck: Struck) -> None:
        manner = rng.choice(tuple(_MANNERS))
        await restart.end(_MANNERS[manner])
        await asyncio.sleep(rng.uniform(0, 1.5))
        restart.start()
        await postgres_answers(house.settings.required("database_url"))
        struck[manner] += 1

    async with at_moments(strike, rng, every_s=(2, 5)) as struck:
        yield struck


# A sequence counts also what is rolled back.
_REFUSING: Final = """
create sequence chaos_refused_deadlock;
create sequence chaos_refused_serialization;
create function chaos_refuse() returns trigger language plpgsql security definer as $$
begin
    if random() < {chance} then
        perform nextval('chaos_refused_' || tg_argv[0]);
        raise exception 'refused by chance' using errcode = tg_argv[1];
    end if;
    return null;
end $$;
create trigger chaos_deadlock after insert on transfer
    for each statement execute function chaos_refuse('deadlock', '40P01');
create trigger chaos_serialization after insert or update on account
    for each statement execute function chaos_refuse('serialization', '40001');
"""
_REFUSING_NO_MORE: Final = """
drop trigger chaos_deadlock on transfer;
drop trigger chaos_serialization on account;
drop function chaos_refuse;
"""
_REFUSED: Final = "select case when is_called then last_value else 0 end from chaos_refused_{of}"
_CHANCE: Final = 0.1


@asynccontextmanager
async def _refuse(house: House, rng: Random) -> AsyncIterator[Struck]:
    struck: Struck = Counter()
    await house.pool.execute(_REFUSING.format(chance=_CHANCE))
    try:
        yield struck
    finally:
        await house.pool.execute(_REFUSING_NO_MORE)
        for of in ("deadlock", "serialization"):
            struck[of] = await house.pool.fetchval(_REFUSED.format(of=of))


_HOT: Final = "select member_id, program from account order by last_seq desc limit 12"
_LOCK: Final = "select from account where member_id = $1 and program = $2 for update"
_DEADLOCKS: Final = "select deadlocks from pg_stat_database where datname = current_database()"


@asynccontextmanager
async def _rogue(house: House, rng: Random) -> AsyncIterator[Struck]:
    """A stranger takes locks the other way round. Who of the two is told to give way is up to Postgres."""
    before = await house.pool.fetchval(_DEADLOCKS)

    async def strike(struck: Struck) -> None:
        hot = sorted(map(tuple, await house.pool.fetch(_HOT)), reverse=True)
        with suppress(asyncpg.DeadlockDetectedError):
            async with house.pool.acquire() as connection, connection.transaction():
                for account in hot:
                    await connection.execute(_LOCK, *account)
                    await asyncio.sleep(0.03)
        struck["deadlock"] = await house.pool.fetchval(_DEADLOCKS) - before

    async with at_moments(strike, rng, every_s=(0.0, 0.3)) as struck:
        yield struck


POSTGRES_RESTART: Final = Fault("postgres-restart", "Postgres stopped (fast or immediate) and started again", _restart)
POSTGRES_REFUSES: Final = Fault(
    "postgres-refuses", "one posting statement in ten fails with 40P01 or 40001, by a trigger", _refuse
)
DEADLOCKS: Final = Fault("deadlocks", "a stranger's session locks the busiest accounts in the opposite order", _rogue)
