"""The transactions of a country that earned points, in the order of their time, a page at a time."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from abacus.engage.offers.decide.past import PastPurchase, Window
from abacus.oversight.backtest.pages import in_order
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.pricing.explanation.sql import FACTS, FACTS_ARE_KNOWN, factor_of_facts

# Of a fixed award, a gift or an award of a campaign there is no price.
_PURCHASES: Final = Statement(f"""
select t.occurred_at as at, t.member_id, t.program, e.amount, {factor_of_facts("vertical")} as vertical,
    {factor_of_facts("cashless")} as payment_type, {factor_of_facts("tier")} as tier, t.points
from transfer t
cross join lateral {FACTS}
where t.kind = 'earn' and t.country = :country and t.occurred_at >= :begin and t.occurred_at < :end
    and {FACTS_ARE_KNOWN} and e.amount is not null and e.currency = :currency
    and coalesce(e.fixed, e.granted_by, e.campaign) is null and {factor_of_facts("vertical")} is not null
order by t.occurred_at, t.member_id, t.seq
""")


async def purchases(
    connection: Connection, country: str, currency: str, window: Window
) -> AsyncIterator[Sequence[PastPurchase]]:
    """In a snapshot. Each slice sorts its own, on disk where there are many."""
    statement = _PURCHASES(country=country, currency=currency, **window._asdict())
    cursors: Sequence[Any] = await slices.each(connection, lambda: connection.cursor(*statement))
    async for page in in_order(cursors, "at"):
        yield [_purchase(row) for row in page]


def _purchase(row: Any) -> PastPurchase:
    """How it was paid, and the tier, are empty where the explanation has no such factor."""
    return PastPurchase(**{**row, "payment_type": row["payment_type"] or "", "tier": row["tier"] or ""})
