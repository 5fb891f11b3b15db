"""The command line, run as people and scripts run it: in this process, or in one of its own."""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import typer
from typer.testing import CliRunner

from abacus.cli.main import app

# `ABACUS_TEST_PROGRAM` names an `abacus` that was installed from the wheel. It runs away from the checkout.
PROGRAM: Final = (
    (os.environ["ABACUS_TEST_PROGRAM"],) if "ABACUS_TEST_PROGRAM" in os.environ else (sys.executable, "-m", "abacus")
)

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document of `--json`. Every time in it is one of RFC 3339, whichever command printed it."""
        document = json.loads(self.out)
        assert list(not_rfc3339(document)) == []
        return document


def not_rfc3339(document: Any) -> Iterator[str]:
    """The texts that are times in another form than that of RFC 3339."""
    match document:
        case dict():
            for each in document.values():
                yield from not_rfc3339(each)
        case list():
            for each in document:
                yield from not_rfc3339(each)
        case str() if _TIME.match(document) and not _RFC3339.fullmatch(document):
            yield document


async def abacus(
    *arguments: str, env: dict[str, str] | None = None, typed: str | None = None, of: typer.Typer = app
) -> Ran:
    """The command in this process, in a thread of its own with an event loop of its own: it starts at once. `typed` is
    its standard input, and `of` are the commands that it is one of.
    """
    clean: dict[str, str | None] = {name: None for name in os.environ if name.startswith("ABACUS_")}

    def invoke() -> Ran:
        result = CliRunner().invoke(of, list(arguments), env={**clean, **(env or {})}, input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return await asyncio.wait_for(asyncio.to_thread(invoke), 60)


async def abacus_process(*arguments: str, env: dict[str, str] | None = None) -> Ran:
    """The command in a process of its own, as a shell starts it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *arguments,
        env={**clean, **(env or {})},
        cwd=tempfile.gettempdir(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 300)
    return Ran(process.returncode or 0, out.decode(), err.decode())


DOWN = "postgresql://nobody@127.0.0.1:1/none"
