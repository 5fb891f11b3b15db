"""`abacus rewards report`: what came of rewards, by day, by reward, or by who pays."""

from typing import Annotated

import typer

from abacus.cli.rewards.family import FAMILY
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.periods import DayFrom, DayTo, days_of
from abacus.cli.terminal.sheets import Report
from abacus.engage.offers.decide.report_parts import not_asked_for
from abacus.engage.rewards.decide.report import By, RewardLine, lines_of
from abacus.engage.rewards.report import counted, payers_of
from abacus.oversight.reports.decide.sheet import sheet
from abacus.oversight.reports.homes import zone_of
from abacus.platform.postgres import snapshot
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore


async def report_rewards(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="This reward alone.")] = None,
    begin: DayFrom = None,
    end: DayTo = None,
    by: Annotated[By, typer.Option(help="Part the lines by this.")] = By.DAY,
) -> Report:
    """Report how often rewards were redeemed and came back, with their points and money.

    A day is one of the country's clock.
    """
    async with at_desk(FAMILY.desk) as (desk, at):
        now = at.clock.now()
        since, until = days_of(begin, end, now)
        if name is not None:
            await desk.version(name)
        book = CardBook(await CardStore(at.pool).all())
        zones = {country: zone_of(book, country, now) for country in book.countries()}
        async with snapshot(at.pool) as connection:
            found = await counted(connection, zones, since, until, name)
            payers = await payers_of(connection, [(each.reward, each.version) for each in found])
    currencies = {country: card.card.currency for country, card in book.of_countries(now).items()}
    lines = lines_of(found, payers, currencies, by)
    title = f"{name or 'Rewards'} from {since} to {until}"
    about = {"from": since.isoformat(), "to": until.isoformat(), "reward": name, "by": by}
    return Report(sheet("rows", title, RewardLine, lines, not_asked_for(by)), about)
