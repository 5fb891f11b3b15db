"""Redemptions that awards of transactions name, each with all that it can be compared by."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias
from uuid import UUID

from abacus.core.errors import SetAside
from abacus.core.ids import redemption_key
from abacus.engage.offers.decide.paid import Paid, Recalled
from abacus.engage.offers.named_redemptions import named_redemptions
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.named_redemptions import named_rewards
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.redeemed.decide.named import Named
from abacus.oversight.redeemed.naming import IN_ORDER, IS_NAMING, NAMED
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Explanation, Offered

Posted: TypeAlias = Transfer | Award  # an award as it was posted

_FIRST: Final = Statement(f"""
select distinct on (named) {NAMED} as named, t.key from transfer t
where t.member_id = :member_id and {IS_NAMING} and {NAMED} = any(:ids::text[]) order by named, {IN_ORDER}
""")


class RedeemedReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._ledger = LedgerReader(pool)

    async def of(self, member_id: str, posted: Iterable[Posted]) -> Mapping[str, Named]:
        """Of what was posted to the member and names a redemption, by its key. Raises `Unavailable`."""
        paid = {each.key: named for each in posted if (named := _paid(each)) is not None}
        if not paid:
            return {}
        ids = {each.redemption_id for each in paid.values()}
        offers = await named_redemptions(self._pool, member_id, ids)
        earned = await self._earned(id_ for id_, each in offers.items() if each.redemption.points)
        known: dict[UUID, Recalled | Redemption] = {
            **{id_: each._replace(earned=earned.get(id_)) for id_, each in offers.items()},
            **await self._rewards(member_id, ids - offers.keys()),
        }
        first = await self._first(member_id, known) if known else {}
        return {
            key: Named(
                each,
                known.get(each.redemption_id),
                first=None if (before := first.get(each.redemption_id)) == key else before,
            )
            for key, each in paid.items()
        }

    async def _rewards(self, member_id: str, ids: Collection[UUID]) -> Mapping[UUID, Redemption]:
        if not ids:
            return {}
        async with passing_failures(), self._pool.acquire() as connection:
            found = await named_rewards(connection, ids)
        return {id_: each for id_, each in found.items() if each.member_id == member_id}

    async def _first(self, member_id: str, ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """The key of the transaction that named a redemption first."""
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_FIRST(member_id=member_id, ids=[str(each) for each in ids]))
        return {UUID(named): key for named, key in rows}

    async def _earned(self, ids: Iterable[UUID]) -> Mapping[UUID, int | None]:
        """The points by which the points of redemptions were reckoned, where they are posted."""
        id_of = {redemption_key(each): each for each in ids}
        if not id_of:
            return {}
        places: dict[tuple[str, str], list[int]] = {}
        for claim in (await self._ledger.claims_of(id_of)).values():
            places.setdefault((claim.member_id, claim.program), []).append(claim.seq)
        given = [each for place, seqs in places.items() for each in (await self._ledger.these(*place, seqs)).values()]
        return {id_of[each.key]: why.earned for each in given if isinstance(why := _explanation(each), Offered)}


def _paid(each: Posted) -> Paid | None:
    why = _explanation(each) if each.kind == TransferKind.EARN else None
    return None if why is None else Paid.by(why, each.country)


def _explanation(each: Posted) -> Explanation | None:
    try:
        return read(each.explanation)
    except SetAside:  # of a version to come, or unreadable
        return None
