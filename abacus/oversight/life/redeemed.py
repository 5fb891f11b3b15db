"""Redemptions that awards of transactions name, each with all that it can be compared by."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from abacus.core.errors import SetAside
from abacus.core.ids import redemption_key
from abacus.engage.offers.decide.paid import Comparison, Paid, Recalled, comparisons, micros_text
from abacus.engage.offers.named_redemptions import named_redemptions
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Pool
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Explanation, Offered

Posted: TypeAlias = Transfer | Award  # an award as it was posted


class Redeemed(NamedTuple):
    """A transaction that names a redemption; None where the member has no such redemption."""

    paid: Paid
    recalled: Recalled | None

    @property
    def compared(self) -> Sequence[Comparison]:
        return list(comparisons(self.paid, self.recalled))

    @property
    def document(self) -> dict[str, Any]:
        """The offer, what it took off and gave besides, and whether transaction and redemption agree."""
        told: dict[str, Any] = {"redemption_id": str(self.paid.redemption_id)}
        if self.recalled is not None:
            of = self.recalled.redemption
            told |= {"offer": of.offer, "version": of.version}
            told |= {"saves": micros_text(of.saves, of.currency), "points": of.points}
        return told | {"faults": [each.words for each in self.compared if each.agrees is False]}


class RedeemedReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._ledger = LedgerReader(pool)

    async def of(self, member_id: str, posted: Iterable[Posted]) -> Mapping[str, Redeemed]:
        """Of what was posted to the member and names a redemption, by its key. Raises `Unavailable`."""
        paid = {each.key: named for each in posted if (named := _paid(each)) is not None}
        if not paid:
            return {}
        found = await named_redemptions(self._pool, member_id, {each.redemption_id for each in paid.values()})
        earned = await self._earned(id_ for id_, each in found.items() if each.redemption.points)
        known = {id_: each._replace(earned=earned.get(id_)) for id_, each in found.items()}
        return {key: Redeemed(each, known.get(each.redemption_id)) for key, each in paid.items()}

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
