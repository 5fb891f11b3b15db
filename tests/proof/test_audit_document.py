"""The program of docs/finance-audit/audit.md finds the ledger's hashes sound, without a line of Abacus' code."""

import asyncio
import os
import re
import sys

from abacus.platform.postgres import Pool
from tests.support.paths import DOCS
from tests.support.sealing import fill

PAGE = (DOCS / "finance-audit/audit.md").read_text(encoding="utf-8")


async def test_the_page_says_of_every_table_what_is_proven(pool: Pool) -> None:
    section = PAGE.partition("## What is proven of each table")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for tables, _, _ in rows for name in re.findall("`([a-z_]+)`", tables)]
    assert {word.strip() for _, word, _ in rows} == {"proven", "checked", "in part", "not"}
    assert all(how.strip() for _, _, how in rows)
    there = await pool.fetch(
        "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')"
        " and not relispartition and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')"
    )
    assert sorted(named) == sorted(row["relname"] for row in there)


async def test_the_program_for_the_chain_of_hashes(pool: Pool, database_url: str) -> None:
    await fill(pool, "bob", "eve", transfers=2)
    section = PAGE.partition("## The chain of hashes")[2]
    program = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert program is not None
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program[1]),
        env={**os.environ, "ABACUS_DATABASE_URL": database_url},
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await running.communicate()
    assert running.returncode == 0
    assert told.decode().splitlines() == [f"{name} GRP {seq} same" for name in ("bob", "eve") for seq in (1, 2)]
