"""`abacus rates backtest`: the points that a draft card would have awarded, and would let lapse."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from abacus.cli.documents.drafts import Judged, faultless
from abacus.cli.rates.family import FAMILY
from abacus.cli.terminal.answer import Aside
from abacus.cli.terminal.files import csv_file
from abacus.cli.terminal.sheets import Decimals, Report, read_day, reading
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.oversight.backtest.decide.difference import DIMENSIONS, Backtest, Difference, Step, Unpriced
from abacus.oversight.backtest.decide.lapses import Lapse, LapseChange, changes_policy, policy_of, with_liability
from abacus.oversight.backtest.lapses import Moved, lapses, moved
from abacus.oversight.backtest.replay import backtest as replay
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import cost
from abacus.oversight.reports.decide.sheet import Sheet, sheet
from abacus.platform.postgres import Connection
from abacus.pricing.decide.card import RateCard
from abacus.pricing.decide.timeline import place_of


class Preview(NamedTuple):
    """The policy now and that of the draft, and the points by month; without rows where the policy does not change."""

    policies: dict[str, str | None]
    rows: list[LapseChange]


async def preview(connection: Connection, draft: RateCard, displaced: RateCard | None, members: Path | None) -> Preview:
    """Against the card that the draft displaces. Writes the file of members, where one is named. Raises `Refused`."""
    policies = {"now": policy_of(displaced) if displaced else None, "draft": policy_of(draft)}
    if not changes_policy(draft, displaced):
        if members is not None:
            raise Refused("--members: the draft does not change when points lapse")
        return Preview(policies, [])
    if members is not None:
        await _write_members(connection, draft, members)
    return Preview(policies, await lapses(connection, draft))


async def _write_members(connection: Connection, draft: RateCard, file: Path) -> None:
    """A page at a time, however many there are."""
    with csv_file(file, Moved._fields, "--members") as rows:
        async for page in moved(connection, draft):
            rows.rows(page)


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


async def backtest(
    file: Annotated[Path, typer.Argument(metavar="CARD.toml", help="A draft card.", show_default=False)],
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="First day, or month, by the card's clock.")],
    last: Annotated[str, typer.Option("--to", metavar="DAY", help="Last day, or month, included.")],
    decimals: Decimals = 2,
    members: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write whose points would lapse in another month."),
    ] = None,
) -> Report:
    """Price past awards again by a draft card, and show the difference; and when points would lapse, where it changes
    that. Nothing is changed.
    """
    (draft,) = await faultless([file], FAMILY.kind, Judged(FAMILY.kind.read, None, {}))
    card, today = draft.document, SystemClock().now().date()
    since, until = _window(card, first, last)
    async with reading(f"awards of {card.scope}") as (connection, cards):
        result = await replay(connection, card, since, until)
        book = await assumptions(connection)
        displaced = place_of(card, cards.by_start(card.scope)).displaced
        expiry = await preview(connection, card, displaced.card if displaced else None, members)
    changes = _changes(result, card, book, today, decimals)
    lapses = with_liability(expiry.rows, book, today, decimals)
    costed = [change for change in changes if change.liability is not None]
    without = {change.pair for change in changes if change.liability is None}
    without |= {f"{lapse.program}/{lapse.country}" for lapse in lapses if lapse.liability is None}
    about = {
        "card": str(file),
        "scope": card.scope,
        "from": since.isoformat(),
        "until": until.isoformat(),
        "expiry_policy": expiry.policies,
        "without_cost": sorted(without),
    }
    every = sheet("rows", "Every combination", Difference, result.differences)
    title = f"Points lapse {expiry.policies['now']}; by the draft {expiry.policies['draft']}"
    tables = [*_shown(result, costed), sheet("lapses", title, Lapse, lapses)]
    return Report(every, about, tables, *map(_no_cost, sorted(without)))


def _no_cost(pair: str) -> Aside:
    return Aside(f"no liability for {pair}: no cost of a point is assumed; see `abacus report assumptions set`")


def _window(card: RateCard, first: str, last: str) -> tuple[datetime, datetime]:
    begins, ends = read_day(first, "--from", last=False), read_day(last, "--to", last=True)
    if ends < begins:
        raise Refused(f"--to: {ends} is before {begins}")
    after = ends + timedelta(days=1)
    return (
        datetime.combine(begins, time(), card.zone).astimezone(UTC),
        datetime.combine(after, time(), card.zone).astimezone(UTC),
    )


def _changes(result: Backtest, card: RateCard, book: AssumptionBook, today: date, decimals: int) -> list[Change]:
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
