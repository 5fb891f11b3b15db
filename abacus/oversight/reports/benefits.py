"""What offers gave and rewards cost in a month, read from one snapshot."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from abacus.engage.offers.report import counted as offers_counted
from abacus.engage.offers.report import terms_of
from abacus.engage.rewards.report import counted as rewards_counted
from abacus.engage.rewards.report import payers_of
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.benefits import (
    BenefitRow,
    Tender,
    benefit_rows,
    offers_given,
    rewards_burnt,
)
from abacus.oversight.reports.homes import Homes
from abacus.platform.postgres import Connection
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.decide.month import Month


async def benefits(
    connection: Connection, book: CardBook, where: Homes, month: Month, *, decimals: int, now: datetime
) -> Sequence[BenefitRow]:
    """By the clock of each country. The connection's transaction has to be one snapshot."""
    first, last = month.first_day, month.last_day
    offers = await offers_counted(connection, first, last)
    terms = await terms_of(connection, [(each.offer, each.version) for each in offers])
    zones = dict(zip(where.countries, where.zones, strict=True))
    rewards = await rewards_counted(connection, zones, first, last)
    payers = await payers_of(connection, [(each.reward, each.version) for each in rewards])
    tenders = {
        country: Tender(card.card.program, card.card.currency) for country, card in book.of_countries(now).items()
    }
    parts = chain(offers_given(offers, terms, tenders), rewards_burnt(rewards, payers, tenders))
    return benefit_rows(parts, await assumptions(connection), month, decimals=decimals)
