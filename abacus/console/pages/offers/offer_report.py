"""What came of offers, by day, by offer or by who pays, in the countries that the person may see."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final

from abacus.console.decide.charts import Chart, by_day
from abacus.console.pages.stated.report_page import Asked, Found, ReportPages, table_of
from abacus.console.web.calls import Call
from abacus.engage.offers.decide.report import By, Counted, OfferLine, lines_of
from abacus.engage.offers.decide.report_parts import not_asked_for
from abacus.engage.offers.report import counted, terms_of
from abacus.engage.offers.shown import ONE_IN
from abacus.oversight.reports.decide.sheet import sheet
from abacus.people.types.deed import Deed
from abacus.platform.postgres import snapshot

_DRAWN: Final = ("shown", "reserved", "redeemed")


async def _read(call: Call, asked: Asked) -> Found:
    by, countries = By(asked.by), call.countries(Deed.SEE)
    async with snapshot(call.premises.pool) as connection:
        found = await counted(connection, asked.since, asked.until, asked.name)
        terms = await terms_of(connection, [(each.offer, each.version) for each in found])
    seen = [each for each in found if countries is None or terms[each.offer, each.version].country in countries]
    lines = sheet("rows", "Offers", OfferLine, lines_of(seen, terms, by), not_asked_for(by))
    return Found(table_of(lines), _chart(seen))


def _chart(found: Iterable[Counted]) -> Chart | None:
    counts: dict[str, Counter[date]] = {name: Counter() for name in _DRAWN}
    for each in found:
        for name in _DRAWN:
            counts[name][each.day] += getattr(each, name)
    return by_day("By day", "times", counts)


REPORT: Final = ReportPages(
    plural="offers",
    about="How often they were reserved, redeemed and rolled back, and what they gave. How often they were shown is"
    f" estimated: one answer of {ONE_IN} is looked at.",
    by=By,
    read=_read,
)
