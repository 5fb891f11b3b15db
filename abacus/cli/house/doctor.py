"""`abacus doctor`: whether what Abacus stands on is set up as it needs it."""

from collections.abc import Iterator, Sequence
from typing import Final

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Columns, Line, Shown, Table
from abacus.cli.terminal.shell import pool
from abacus.oversight.doctor.decide.server_settings import of_server
from abacus.oversight.doctor.server_settings import read_servers
from abacus.oversight.doctor.types import Finding, Grade

_COLUMNS: Final[Columns[Finding]] = {
    "server": lambda each: each.server,
    "what": lambda each: each.what,
    "found": lambda each: each.found,
    "": lambda each: each.grade.value,
}
_COLOURS: Final = {Grade.ADVICE: "yellow", Grade.WRONG: "red"}


async def doctor() -> Answer:
    """Look at the database servers' settings, and say what to change: what may lose something, and what makes awards
    dearer as the ledger grows.

    Exit 0 if nothing is wrong, advice or not, and 1 if something is.
    """
    async with pool() as database:
        findings = [finding for server in await read_servers(database) for finding in of_server(server)]
    is_wrong = any(each.grade is Grade.WRONG for each in findings)
    return Answer([each._asdict() for each in findings], *_shown(findings), exit_code=EXIT_FAILED if is_wrong else 0)


def _shown(findings: Sequence[Finding]) -> Iterator[str | Shown]:
    yield Table.of("Database servers", findings, _COLUMNS)
    for each in findings:
        if each.grade is not Grade.GOOD:
            yield Line(f"{each.grade.upper()}: {each.server}: {each.what}: {each.remedy}", _COLOURS[each.grade])
    if all(each.grade is Grade.GOOD for each in findings):
        yield "all is well"
