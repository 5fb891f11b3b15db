"""What is known of a member who asks for offers: read once for a request, together with other members, and remembered
for some seconds.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.ledger.types.account import AccountBalance, AccountId
from abacus.platform import slices
from abacus.platform.gatherer import PendingRequest
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.reading.store_rounds import StoreRounds
from abacus.pricing.decide.card import BASE_TIER
from abacus.signals.facts.members import Look

AGE_S: Final = 5.0  # for which a process remembers a member
REMEMBERED: Final = 100_000  # members
DEPENDENCY: Final = "members"
_WITHIN_S: Final = 0.5
_AT_ONCE: Final = 2
_NONE: Final[frozenset[int]] = frozenset()


class Known(NamedTuple):
    """A member in a program, as of a moment. There may be no account yet, and only members of segments have a number
    in these. `invited` has the numbers of the offers to which the member is invited.
    """

    tier: str
    account: AccountBalance | None
    invited: frozenset[int]
    number: int | None
    at: datetime


# The offers to which members are invited, by their numbers. Members without any are left out. Raises `Unavailable`.
Invited: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, frozenset[int]]]]

# The numbers of members in segments. Members without one are left out. Raises `Unavailable`.
Numbers: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]

_Pending: TypeAlias = PendingRequest[AccountId, Known]


class Members:
    """Each reading is of many members. While the database is silent nobody waits for it: a breaker stands in front."""

    def __init__(
        self,
        pool: Pool,
        *,
        tiers: Look[str],
        standings: Look[AccountBalance],
        invited: Invited,
        numbers: Numbers,
        clock: Clock,
        monotonic: Callable[[], float],
        health: Health | None = None,
        age_s: float = AGE_S,
        remembered: int = REMEMBERED,
    ) -> None:
        self._pool = pool
        self._tiers = tiers
        self._standings = standings
        self._invited = invited
        self._numbers = numbers
        self._clock = clock
        self._monotonic = monotonic
        self._age_s = age_s
        self._most = remembered
        self._known: OrderedDict[AccountId, tuple[float, Known]] = OrderedDict()
        self._rounds: StoreRounds[AccountId, Known] = StoreRounds(
            DEPENDENCY, self._round, within_s=_WITHIN_S, at_once=_AT_ONCE, health=health
        )

    def __len__(self) -> int:
        return len(self._known)

    async def of(self, account: AccountId) -> Known:
        """What was read of the member in these last seconds, or is read now. Raises `Unavailable`."""
        found = self._known.get(account)
        if found is not None and self._monotonic() < found[0]:
            return found[1]
        return await self._rounds.read(account)

    def forget(self) -> None:
        """Every member is read anew from now on."""
        self._known.clear()

    async def close(self) -> None:
        await self._rounds.close()

    async def _round(self, pending: Sequence[_Pending]) -> None:
        accounts = list({each.request for each in pending})
        split = await self._rounds.ask_store(lambda: self._read(accounts))
        found = dict(chain.from_iterable(split.done))
        for each in pending:
            if each.request in found:
                each.answer(found[each.request])
            else:
                each.refuse(split.errors[0])

    async def _read(self, accounts: Sequence[AccountId]) -> slices.Split[AccountId, list[tuple[AccountId, Known]]]:
        """Members whose slice is away or slow wait, and hold up no others."""
        split = await slices.split(self._pool, accounts, self._in_slice, member_of=itemgetter(0), reads=True)
        until = self._monotonic() + self._age_s
        for account, known in chain.from_iterable(split.done):
            self._known[account] = until, known
            self._known.move_to_end(account)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return split

    async def _in_slice(self, _: slices.Slice, part: Sequence[AccountId]) -> list[tuple[AccountId, Known]]:
        now = self._clock.now()
        members = {member_id for member_id, _ in part}
        tiers, standings = await self._tiers(part), await self._standings(part)
        invited, numbers = await self._invited(members), await self._numbers(members)
        found = []
        for account in part:
            tier, standing, member_id = tiers.get(account, BASE_TIER), standings.get(account), account[0]
            known = Known(tier, standing, invited.get(member_id, _NONE), numbers.get(member_id), now)
            found.append((account, known))
        return found
