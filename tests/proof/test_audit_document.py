"""The program of docs/audit.md finds the ledger's hashes sound, without a line of Abacus' code."""

import asyncio
import os
import re
import sys

from abacus.platform.postgres import Pool
from tests.support.paths import DOCS
from tests.support.sealing import fill

PAGE = (DOCS / "audit.md").read_text(encoding="utf-8")


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
