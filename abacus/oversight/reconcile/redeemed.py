"""Transactions that name a redemption of an offer or a reward, held against it and against each other."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.ids import REDEMPTIONS
from abacus.engage.offers.decide.paid import Paid, Recalled
from abacus.engage.offers.decide.reservation import Redemption
from abacus.engage.offers.named_redemptions import READ, SAVED
from abacus.engage.rewards.named_redemptions import named_rewards
from abacus.oversight.reconcile.decide.account import Finding, NamedFault
from abacus.oversight.reconcile.messages import long_pages
from abacus.oversight.redeemed.decide.named import Named
from abacus.oversight.redeemed.naming import IN_ORDER, IS_NAMING, NAMED
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.pricing.explanation.text import read

_PAGE: Final = 1_000

# The award of an offer, by its key, says by how many points of the purchase it was reckoned. A transaction before the
# window that named the same is looked for only where the redemption was there before the window.
_NAMING: Final = Statement(f"""
select w.key, w.member_id, w.country, w.explanation, nullif(coalesce(b.key, w.first), w.key) as first,
    g.explanation ->> 'earned' as earned, {SAVED} as saved, {READ}
from (
    select t.*, {NAMED} as named,
        first_value(t.key) over (partition by t.member_id, {NAMED} order by {IN_ORDER}) as first
    from transfer t where t.posted_at >= :start and t.posted_at < :end and {IS_NAMING}
) w
left join offer_redemption d on d.member_id = w.member_id and d.redemption_id::text = w.named
left join claim c on c.key = '{REDEMPTIONS}' || d.redemption_id
left join transfer g on g.member_id = c.member_id and g.program = c.program and g.seq = c.seq
left join lateral (
    select t.key from transfer t
    where coalesce(d.redeemed_at < :start, true) and t.member_id = w.member_id and t.posted_at < :start
        and {IS_NAMING} and {NAMED} = w.named
    order by {IN_ORDER} limit 1
) b on true
""")


class _Transaction(NamedTuple):
    """A transaction of the window that names a redemption."""

    key: str
    member_id: str
    named: Named

    def faults(self) -> Iterator[NamedFault]:
        for each in self.named.faults:
            yield NamedFault(Finding.OTHER_BASKET, self.key, f"{self.member_id}: {each}")


async def redeemed_otherwise(connection: Connection, start: datetime, end: datetime) -> list[NamedFault]:
    """Within the transaction whose snapshot the account is of. Raises `Unavailable`."""
    found, of_no_offer = list[NamedFault](), list[_Transaction]()

    async def look() -> None:
        async for page in long_pages(connection, _NAMING(start=start, end=end)):
            for key, member_id, country, explanation, first, earned, saved, *columns in page:
                paid = Paid.by(read(explanation), country)
                assert paid is not None  # noqa: S101  # it names a redemption
                redemption = Redemption(*columns)
                if redemption.redemption_id is None:
                    of_no_offer.append(_Transaction(key, member_id, Named(paid, None, first)))
                else:
                    named = Named(paid, Recalled(redemption, saved, earned and int(earned)), first)
                    found.extend(_Transaction(key, member_id, named).faults())

    await slices.each(connection, look)
    for start_of_page in range(0, len(of_no_offer), _PAGE):
        found += await _of_rewards(connection, of_no_offer[start_of_page : start_of_page + _PAGE])
    return found


async def _of_rewards(connection: Connection, transactions: list[_Transaction]) -> list[NamedFault]:
    """Faults of transactions that name no offer's redemption."""
    rewards = await named_rewards(connection, {each.named.paid.redemption_id for each in transactions})
    found = list[NamedFault]()
    for each in transactions:
        reward = rewards.get(each.named.paid.redemption_id)
        is_its_own = reward is not None and reward.member_id == each.member_id
        named = each.named._replace(redeemed=reward if is_its_own else None)
        found.extend(each._replace(named=named).faults())
    return found
