"""Sources: what a key implies where none was written, in Python and in SQL alike."""

import pytest

from abacus.core.sources import partner_of, partner_sql, source_of_key, source_sql
from abacus.platform.postgres import Pool

pytestmark = pytest.mark.once

IMPLIED = [
    ("txn:rides:T-1", None, "stream"),
    ("event:rides:booking.cancelled:T-1", None, "stream"),
    ("refund:rides:R-1", None, "stream"),
    ("api:acme:order:7", None, "partner:acme"),
    ("api:acme:order:7", "ann", "partner:acme"),
    ("import:old:bob:GRP", "import:old", "import"),
    ("expiry:2026-07", None, "clock"),
    ("adjust:1", "ann", "login:ann"),
    ("ops:1", "ann", "login:ann"),
    ("adjust:1", None, None),
    ("capture:6f1f2f39", "acme", None),
    ("a key of no kind", None, None),
]


@pytest.mark.parametrize(("key", "actor", "source"), IMPLIED)
def test_what_a_key_implies(key: str, actor: str | None, source: str | None) -> None:
    assert source_of_key(key, actor) == source


@pytest.mark.parametrize(("key", "actor", "source"), IMPLIED)
@pytest.mark.parametrize("written", [None, "campaign:34", "partner:bits"])
async def test_sql_says_the_same(
    pool: Pool, key: str, actor: str | None, source: str | None, written: str | None
) -> None:
    row = "(select $1::text as key, $2::text as actor, $3::text as source) as t"
    told = await pool.fetchrow(f"select {source_sql('t')}, {partner_sql('t')} from {row}", key, actor, written)
    assert tuple(told) == (written or source, partner_of(written or source))
