"""Members of the sandbox, whom partners invent: by its name, one is invited to all that is by invitation."""

from collections.abc import Callable
from typing import Final

from abacus.engage.offers.members import Known
from abacus.engage.offers.qualifier import MemberReader
from abacus.ledger.types.account import AccountId

INVITED: Final = "invited-"  # how the ids begin of members who are invited


class InventedMembers:
    """Nobody is invited in the sandbox by a row: `by_invitation` tells the numbers of all offers by invitation."""

    def __init__(self, members: MemberReader, by_invitation: Callable[[], frozenset[int]]) -> None:
        self._members = members
        self._by_invitation = by_invitation

    async def of(self, account: AccountId) -> Known:
        """Raises `Unavailable`."""
        known, (member_id, _) = await self._members.of(account), account
        return known._replace(invited=self._by_invitation()) if member_id.startswith(INVITED) else known
