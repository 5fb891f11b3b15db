"""Houses with a sandbox: the API, and callers with a live and with a test key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import httpx

from abacus.core.clock import SystemClock
from abacus.intake.partners.sandbox import new_test_access
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Pool
from tests.support.house import House
from tests.support.logged import limits_logged
from tests.support.shop import Shop, register, shop

CLOCK: Final = SystemClock()
LIMITS: Final = Limits(per_award=500)


class Open(NamedTuple):
    """The API, callers with a live and with a test key of acme, and the tables of the sandbox."""

    shop: Shop
    live: httpx.AsyncClient
    test: httpx.AsyncClient
    sandbox: Pool


async def access(house: House, sandbox: Pool, partner_id: str = "acme") -> tuple[str, str | None]:
    live, own = PartnerStore(house.pool, CLOCK), PartnerStore(sandbox, CLOCK)
    return await new_test_access(live, own, partner_id, also=limits_logged(partner_id))


@asynccontextmanager
async def opened(house: House, sandbox: Pool, *beside: str, **changes: Any) -> AsyncIterator[Open]:
    live = await register(house, limits=LIMITS, may_adjust=True, **changes)
    test, _ = await access(house, sandbox)
    async with shop(house, *beside) as running:
        yield Open(running, await running.caller(live), await running.caller(test), sandbox)


async def rows(pool: Pool, schema: str) -> dict[str, str]:
    """A digest of each table of a schema, but for what is noted a moment later: uses of a key, the pulse, processes."""
    tables = await pool.fetch(
        "select tablename from pg_tables"
        " where schemaname = $1"
        " and tablename not in ('rate_limit', 'partner_request', 'points_pulse', 'worker_process') order by 1",
        schema,
    )
    digests = {}
    for (table,) in tables:
        row = "(r.prefix, r.digest, r.expires_at)" if table == "partner_key" else "r"
        digests[table] = await pool.fetchval(
            f'select md5(string_agg({row}::text, chr(10) order by {row}::text)) from {schema}."{table}" r'
        )
    return digests
