"""`abacus rates backtest`: the points that a draft card would have awarded."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from abacus.cli.card_drafts import faultless
from abacus.cli.sheets import AsCsv, Decimals, Output, ToParquet, read_day, reading
from abacus.cli.shell import AsJson, run
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.oversight.backtest.decide.difference import DIMENSIONS, Backtest, Difference, Step, Unpriced
from abacus.oversight.backtest.replay import backtest as replay
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import cost
from abacus.oversight.reports.decide.sheet import Sheet, sheet
from abacus.pricing.decide.card import RateCard


class Change(NamedTuple):
    """The cost of the difference: points × expected use × cost of a point, by the assumption in force now. There is
    none where nothing is assumed of the cost.
    """

    program: str
    country: str
    difference: int
    expected_use: str | None
    cost_per_point: Decimal | None
    liability: Decimal | None
    currency: str | None
    assumption: str | None

    @property
    def pair(self) -> str:
        return f"{self.program}/{self.country}"


def backtest(
    file: Annotated[Path, typer.Argument(metavar="CARD.toml", help="A draft card.", show_default=False)],
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="First day, or month, by the card's clock.")],
    last: Annotated[str, typer.Option("--to", metavar="DAY", help="Last day, or month, included.")],
    decimals: Decimals = 2,
    as_csv: AsCsv = False,
    parquet: ToParquet = None,
    as_json: AsJson = False,
) -> None:
    """Price past awards again by a draft card, and show the difference. Nothing is changed."""

    async def main() -> None:
        output = Output(as_json, as_csv, parquet)
        output.check()
        (draft,) = faultless([file])
        since, until = _window(draft.card, first, last)
        async with reading(f"awards of {draft.card.scope}") as (connection, _):
            result = await replay(connection, draft.card, since, until)
            book = await assumptions(connection)
        changes = _changes(result, draft.card, book, decimals)
        costed = [change for change in changes if change.liability is not None]
        uncosted = [change.pair for change in changes if change.liability is None]
        about = {
            "card": str(file),
            "scope": draft.card.scope,
            "from": since.isoformat(),
            "until": until.isoformat(),
            "without_cost": uncosted,
        }
        every = sheet("rows", "Every combination", Difference, result.differences)
        output.put(every, about, _shown(result, costed))
        for pair in uncosted:
            say_no_cost(pair)

    run(main())


def say_no_cost(pair: str) -> None:
    """On the error stream, because the tables and documents are for the figures."""
    typer.echo(f"no liability for {pair}: no cost of a point is assumed; see `abacus report assumptions set`", err=True)


def _window(card: RateCard, first: str, last: str) -> tuple[datetime, datetime]:
    begins, ends = read_day(first, "--from", last=False), read_day(last, "--to", last=True)
    if ends < begins:
        raise Refused(f"--to: {ends} is before {begins}")
    after = ends + timedelta(days=1)
    return (
        datetime.combine(begins, time(), card.zone).astimezone(UTC),
        datetime.combine(after, time(), card.zone).astimezone(UTC),
    )


def _changes(result: Backtest, card: RateCard, book: AssumptionBook, decimals: int) -> list[Change]:
    today = SystemClock().now().date()
    return [
        Change(card.program, country, points, *cost(points, (card.program, country), book, today, decimals))
        for country, points in result.by_country().items()
    ]


def _shown(result: Backtest, changes: list[Change]) -> list[Sheet]:
    """The sheets for people: sums along each dimension, the total, and its cost."""
    along = [sheet(f"by_{name}", f"By {name.replace('_', ' ')}", Step, result.along(name)) for name in DIMENSIONS]
    total = sheet("total", "In all", Step, [result.total])
    unpriced = sheet("unpriced", "Not priced by the draft", Unpriced, result.unpriced)
    return [*along, total, unpriced, sheet("liability", "Liability", Change, changes)]
