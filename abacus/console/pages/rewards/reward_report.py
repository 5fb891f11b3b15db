"""What came of rewards, by day, by reward or by who pays, in the countries that the person may see."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final

from abacus.console.decide.charts import Chart, by_day
from abacus.console.pages.stated.report_page import Asked, Found, ReportPages, table_of
from abacus.console.web.calls import Call
from abacus.engage.offers.decide.report_parts import not_asked_for
from abacus.engage.rewards.decide.report import By, Counted, RewardLine, lines_of
from abacus.engage.rewards.report import counted, payers_of
from abacus.oversight.reports.decide.sheet import sheet
from abacus.oversight.reports.homes import zone_of
from abacus.people.types.deed import Deed
from abacus.platform.postgres import snapshot
from abacus.pricing.store.cards import CardReader


async def _read(call: Call, asked: Asked) -> Found:
    by, countries, book = By(asked.by), call.countries(Deed.SEE), call.rooms[CardReader].book()
    zones = {
        country: zone_of(book, country, call.now)
        for country in book.countries()
        if countries is None or country in countries
    }
    async with snapshot(call.premises.pool) as connection:
        found = await counted(connection, zones, asked.since, asked.until, asked.name)
        payers = await payers_of(connection, [(each.reward, each.version) for each in found])
    currencies = {country: card.card.currency for country, card in book.of_countries(call.now).items()}
    lines = sheet("rows", "Rewards", RewardLine, lines_of(found, payers, currencies, by), not_asked_for(by))
    return Found(table_of(lines), _chart(found))


def _chart(found: Iterable[Counted]) -> Chart | None:
    counts: dict[str, Counter[date]] = {"redeemed": Counter(), "cancelled or returned": Counter()}
    for each in found:
        counts["redeemed"][each.day] += each.redeemed
        counts["cancelled or returned"][each.day] += each.cancelled + each.returned
    return by_day("By day", "redemptions", counts)


REPORT: Final = ReportPages(
    plural="rewards",
    about="How often they were redeemed and came back, with their points and money.",
    by=By,
    read=_read,
)
