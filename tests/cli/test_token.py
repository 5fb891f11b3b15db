"""`ABACUS_TOKEN`: one that does not hold is refused by every command that looks at the database, reads as well."""

import pytest

from abacus.core.clock import SystemClock
from abacus.people.store.people import PeopleStore
from abacus.platform.postgres import Pool, nothing_else
from tests.support.commands import abacus
from tests.support.staff import ADMIN, hire

pytestmark = pytest.mark.once

READS = [
    "approvals list",
    "campaigns list",
    "campaigns show market",
    "counters list",
    "downstreams list",
    "events list",
    "explain a:b",
    "expiry preview --month 2026-11",
    "ledger verify",
    "members show bob",
    "members transfers bob",
    "notify parked",
    "partners list",
    "people list",
    "people whoami",
    "pulse",
    "quarantine list",
    "rates list",
    "rates show SG",
    "report liability",
    "segments list",
    "settings",
    "tiers show bob",
    "where bob",
]


@pytest.mark.parametrize("words", READS)
async def test_a_token_that_does_not_hold_is_refused(database_url: str, words: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": "abp_nobody_has_this_one_0123456789abcdef01234567"}
    ran = await abacus(*words.split(), env=env)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("abacus: ABACUS_TOKEN: ")


async def test_one_that_was_revoked_is_refused(database_url: str, pool: Pool) -> None:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": await hire(pool, "ann", "viewer")}
    assert (await abacus("rates", "list", "--json", env=env)).err == ""
    await PeopleStore(pool, SystemClock()).disable("ann", by=ADMIN, also=nothing_else)
    assert (await abacus("tiers", "show", "bob", "--json", env=env)).err.startswith("abacus: ABACUS_TOKEN: ")
