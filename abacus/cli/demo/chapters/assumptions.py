"""Finance's assumptions: a first version of each country, and a change that waits for a second person."""

from datetime import date
from decimal import Decimal
from typing import Final

from abacus.approving.assumptions import Assumed, assumption_proposal
from abacus.cli.demo.story.chapter import Chapter
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Estimate
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

# By program and country: the currency, and the cost and the allocated price of a point in it.
_PRICES: Final = {
    ("GRP", "SG"): ("SGD", "0.008", "0.009"),
    ("OVO", "ID"): ("IDR", "80", "90"),
    ("GRP", "TH"): ("THB", "0.2", "0.22"),
}
_USE: Final = Decimal("0.8")


class Assumptions(Chapter):
    """Finn sets the first ones alone."""

    async def begin(self) -> None:
        at = self.house.at("finn")
        now, first = at.clock.now(), Month.of(at.clock.now().date()).first_day
        for (program, country), prices in _PRICES.items():
            wanted = Assumed(program, country, first, _estimate(prices, _USE), "as in the plan")
            also = at.does(Deed.SET_ASSUMPTIONS, wanted.subject, country=country, reason=wanted.reason, start=first)
            store = AssumptionStore(at.pool)
            await store.check(program, country, first, wanted.estimate)
            await store.set(
                program, country, first, wanted.estimate, by=at.actor.source, why=wanted.reason, now=now, also=also
            )

    async def end(self) -> None:
        start: date = Month.of(self.house.today).after.first_day
        estimate = _estimate(_PRICES["GRP", "SG"], Decimal("0.76"))
        wanted = Assumed("GRP", "SG", start, estimate, "more points lapse than we had planned")
        await self.house.moves.approvals.ask(assumption_proposal(wanted), self.house.people["finn"].agent)


def _estimate(prices: tuple[str, str, str], use: Decimal) -> Estimate:
    currency, cost, allocated = prices
    return Estimate(currency, use, Decimal(cost), None, Decimal(allocated))
