"""`abacus exchanges conform`: whether a partner's server keeps the contract; and `check-report`, for who gets the
report.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from abacus.cli.exchanges.shared_key import Key, checked_key
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Table
from abacus.cli.terminal.progress import bars
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.conformance import suite
from abacus.exchanges.conformance.kit import Accounts, Kit
from abacus.exchanges.decide import conformance
from abacus.exchanges.decide.conformance import Outcome, Played
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN

_AT_ONCE = 50


async def conform(
    url: Annotated[str, typer.Option(help="Where the partner's test system is, without the contract's paths.")],
    key: Key,
    account: Annotated[str, typer.Option(help="An open account of the test system, under any name.")] = "12345678",
    other: Annotated[str, typer.Option(help="Another open account.")] = "12345679",
    closed: Annotated[str, typer.Option(help="A closed account.")] = CLOSED,
    unknown: Annotated[str, typer.Option(help="A number that is no account.")] = UNKNOWN,
    wait: Annotated[float, typer.Option(min=0, help="Seconds for what the server decides later.")] = 30,
    report: Annotated[Path | None, typer.Option(help="Write the signed report to this file.")] = None,
) -> Answer:
    """Play every case against a partner's test system. It credits points there. Ends with 0 only if all is green."""
    line, clock = Line(url, to_private=True, at_once=_AT_ONCE), SystemClock()
    kit = Kit(line, checked_key(key), Accounts(account, other, closed, unknown), clock, wait_s=wait)
    try:
        with bars() as shown:
            task = shown.add_task("cases", total=len(suite.CASES))

            def tell(played: Played) -> None:
                shown.update(task, advance=1, description=played.name)

            run = await suite.run(kit, url, clock, tell)
    finally:
        await line.close()
    document = conformance.report(run, key)
    if report is not None:
        report.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    return _answer(document)


async def check_report(
    file: Annotated[Path, typer.Argument(help="The report, as `abacus exchanges conform --report` writes it.")],
    key: Key,
) -> Answer:
    """Check that a report was signed with the key and not changed. Ends with 0 only if all in it is green."""
    try:
        document = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as fault:
        raise Refused(f"{file}: {fault}") from None
    if not isinstance(document, dict):
        raise Refused(f"{file} is no report")
    conformance.check_report(document, checked_key(key))
    return _answer(document)


def _answer(document: Mapping[str, Any]) -> Answer:
    counts = document["counts"]
    columns = ("case", "about", "what came")
    told = [each for each in document["cases"] if each["outcome"] != Outcome.GREEN]
    tables = [
        Table(title, columns, [(each["name"], each["about"], each["detail"]) for each in told if each["outcome"] == of])
        for title, of in (("Broken", Outcome.RED), ("Not offered", Outcome.SKIPPED))
        if counts[of]
    ]
    remembers = "are remembered" if document["remembers_refusals"] else "are not remembered: points come back by cancel"
    return Answer(
        document,
        *tables,
        f"{counts[Outcome.GREEN]} of {len(document['cases'])} cases are green, {counts[Outcome.RED]} are broken",
        f"refusals {remembers}; {'credits can be taken back' if document['reverses'] else 'nothing is taken back'}",
        Aside(f"{document['url']}, {document['began_at']}; SHA-256 {document['digest']}"),
        exit_code=0 if document["green"] else EXIT_FAILED,
    )
