"""The command line, run as people and scripts run it: in this process, or in one of its own."""

import asyncio
import json
import os
import sys
from typing import Any, NamedTuple

from typer.testing import CliRunner

from abacus.cli.main import app


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


async def abacus(*arguments: str, env: dict[str, str] | None = None) -> Ran:
    """The command in this process, in a thread of its own with an event loop of its own: it starts at once."""
    clean: dict[str, str | None] = {name: None for name in os.environ if name.startswith("ABACUS_")}

    def invoke() -> Ran:
        result = CliRunner().invoke(app, list(arguments), env={**clean, **(env or {})})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return await asyncio.wait_for(asyncio.to_thread(invoke), 60)


async def abacus_process(*arguments: str, env: dict[str, str] | None = None) -> Ran:
    """The command in a process of its own, as a shell starts it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "abacus",
        *arguments,
        env={**clean, **(env or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 120)
    return Ran(process.returncode or 0, out.decode(), err.decode())


DOWN = "postgresql://nobody@127.0.0.1:1/none"
