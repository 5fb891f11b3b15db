"""Transactions that name a redemption of an offer, held against it: the basket that was paid, and its points."""

from datetime import datetime
from typing import Final

from abacus.core.ids import REDEMPTIONS
from abacus.engage.offers.decide.paid import Paid, Recalled, comparisons
from abacus.engage.offers.decide.reservation import Redemption
from abacus.engage.offers.named_redemptions import READ, SAVED
from abacus.ledger.types.kinds import TransferKind
from abacus.oversight.reconcile.decide.account import Finding, NamedFault
from abacus.oversight.reconcile.messages import long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.pricing.explanation.sql import text
from abacus.pricing.explanation.text import read

# The award of an offer, by its key, says by how many points of the purchase it was reckoned.
_NAMING: Final = Statement(f"""
select t.key, t.member_id, t.country, t.explanation, g.explanation ->> 'earned' as earned, {SAVED} as saved, {READ}
from transfer t
left join offer_redemption d on d.member_id = t.member_id and d.redemption_id::text = {text("redemption")}
left join claim c on c.key = '{REDEMPTIONS}' || d.redemption_id
left join transfer g on g.member_id = c.member_id and g.program = c.program and g.seq = c.seq
where t.posted_at >= :start and t.posted_at < :end and t.kind = '{TransferKind.EARN}'
    and {text("redemption")} is not null and not starts_with(t.key, '{REDEMPTIONS}')
""")
_OWN: Final = 6  # columns that are not the redemption's


async def redeemed_otherwise(connection: Connection, start: datetime, end: datetime) -> list[NamedFault]:
    """Within the transaction whose snapshot the account is of. Raises `Unavailable`."""
    found: list[NamedFault] = []

    async def look() -> None:
        async for page in long_pages(connection, _NAMING(start=start, end=end)):
            for key, member_id, country, explanation, earned, saved, *columns in page:
                paid = Paid.by(read(explanation), country)
                assert paid is not None  # noqa: S101  # it names a redemption
                named = Redemption(*columns)
                recalled = None if named.redemption_id is None else Recalled(named, saved, earned and int(earned))
                wrong = [each.words for each in comparisons(paid, recalled) if each.agrees is False]
                found.extend(NamedFault(Finding.OTHER_BASKET, key, f"{member_id}: {each}") for each in wrong)

    await slices.each(connection, look)
    return found
