"""`abacus offers report`: what came of offers, by day, by offer, or by who pays."""

from typing import Annotated

import typer

from abacus.cli.offers.family import FAMILY
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.periods import DayFrom, DayTo, days_of
from abacus.cli.terminal.sheets import Report
from abacus.engage.offers.decide.report import By, OfferLine, lines_of
from abacus.engage.offers.decide.report_parts import not_asked_for
from abacus.engage.offers.report import counted, terms_of
from abacus.engage.offers.shown import ONE_IN
from abacus.oversight.reports.decide.sheet import sheet
from abacus.platform.postgres import snapshot


async def report_offers(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="This offer alone.")] = None,
    begin: DayFrom = None,
    end: DayTo = None,
    by: Annotated[By, typer.Option(help="Part the lines by this.")] = By.DAY,
) -> Report:
    """Report how often offers were shown, reserved, redeemed and rolled back, and what they gave.

    A day is one of the country's clock. How often they were shown is an estimate.
    """
    async with at_desk(FAMILY.desk) as (desk, at):
        since, until = days_of(begin, end, at.clock.now())
        if name is not None:
            await desk.version(name)
        async with snapshot(at.pool) as connection:
            found = await counted(connection, since, until, name)
            terms = await terms_of(connection, [(each.offer, each.version) for each in found])
    lines = lines_of(found, terms, by)
    title = f"{name or 'Offers'} from {since} to {until}"
    about = {"from": since.isoformat(), "to": until.isoformat(), "offer": name, "by": by, "shown_one_in": ONE_IN}
    return Report(sheet("rows", title, OfferLine, lines, not_asked_for(by)), about)
