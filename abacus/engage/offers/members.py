"""What is known of a member who asks for offers: read once for a request, together with other members, and remembered
for some seconds.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.engage.limits.types import Amounts
from abacus.engage.offers.decide.member_uses import Taken
from abacus.engage.offers.invitations import INVITED
from abacus.engage.offers.reservation_rows import USED
from abacus.ledger.types.account import AccountBalance, AccountId
from abacus.platform import slices
from abacus.platform.gatherer import PendingRequest
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.reading.store_rounds import StoreRounds
from abacus.platform.sql import Statement
from abacus.programs.tiers.store import TIER
from abacus.signals.segments.numbers import NUMBER, MemberNumbers

AGE_S: Final = 5.0  # for which a process remembers a member
REMEMBERED: Final = 100_000  # members
DEPENDENCY: Final = "members"
_WITHIN_S: Final = 0.5
_AT_ONCE: Final = 2
_NONE: Final[frozenset[int]] = frozenset()
_NOTHING_USED: Final[Mapping[str, Taken]] = MappingProxyType({})
_NO_NUMBER: Final = "null::integer"
_LATELY: Final = timedelta(days=2)  # a day ends later elsewhere


class Known(NamedTuple):
    """A member in a program, as of a moment. There may be no account yet, and only members of segments have a number
    in these. `invited` has the numbers of the offers to which the member is invited, and `used` what the member has
    taken of offers, by their names.
    """

    tier: str
    account: AccountBalance | None
    invited: frozenset[int]
    used: Mapping[str, Taken]
    number: int | None
    at: datetime


_Pending: TypeAlias = PendingRequest[AccountId, Known]


class Members:
    """Each reading is of many members, by one statement in a slice. While the database is silent nobody waits for it: a
    breaker stands in front. `standing` is the ledger's select of the balance and the country of an account.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        standing: str,
        clock: Clock,
        monotonic: Callable[[], float],
        health: Health | None = None,
        age_s: float = AGE_S,
        remembered: int = REMEMBERED,
    ) -> None:
        self._pool = pool
        self._numbers = MemberNumbers(pool)
        # Numbers lie with the members where the ledger is not cut.
        self._with_number, self._without = _known(standing, NUMBER), _known(standing, _NO_NUMBER)
        self._clock = clock
        self._monotonic = monotonic
        self._age_s = age_s
        self._most = remembered
        self._remembered: OrderedDict[AccountId, tuple[float, Known]] = OrderedDict()
        self._rounds: StoreRounds[AccountId, Known] = StoreRounds(
            DEPENDENCY, self._round, within_s=_WITHIN_S, at_once=_AT_ONCE, health=health
        )

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._remembered)

    async def of(self, account: AccountId) -> Known:
        """What was read of the member in these last seconds, or is read now. Raises `Unavailable`."""
        found = self._remembered.get(account)
        if found is not None and self._monotonic() < found[0]:
            return found[1]
        return await self._rounds.read(account)

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
        statement, numbers = self._with_number, dict[str, int]()
        if not await slices.in_one_place(self._pool):
            statement, numbers = self._without, await self._numbers.known({member_id for member_id, _ in accounts})
        work = partial(self._in_slice, statement, numbers)
        split = await slices.split(self._pool, accounts, work, member_of=itemgetter(0), reads=True)
        now = self._monotonic()
        for account, known in chain.from_iterable(split.done):
            self._remembered[account] = now + self._age_s, known
            self._remembered.move_to_end(account)
        self._forget(now)
        return split

    def _forget(self, now: float) -> None:
        """Members who were read longest ago come first."""
        while self._remembered:
            until, _ = next(iter(self._remembered.values()))
            if now < until and len(self._remembered) <= self._most:
                return
            self._remembered.popitem(last=False)

    async def _in_slice(
        self, statement: Statement, numbers: Mapping[str, int], slice_: slices.Slice, part: Sequence[AccountId]
    ) -> list[tuple[AccountId, Known]]:
        now = self._clock.now()
        members, programs = zip(*part, strict=True)
        given = {"member_ids": members, "programs": programs, "now": now, "since": (now - _LATELY).date()}
        async with slice_.at() as connection:
            rows = await connection.fetch(*statement(**given))
        return [_known_of(tuple(row), numbers, now) for row in rows]


def _known(standing: str, number: str) -> Statement:
    """Reads accounts, be there any or not."""
    return Statement(f"""
    select u.member_id, u.program, {TIER}, s.balance, s.country, ({INVITED}), {number}, d.*
    from unnest(:member_ids::text[], :programs::text[]) as u (member_id, program)
    left join lateral ({standing}) s on true cross join lateral ({USED}) d
    """)


def _known_of(row: tuple[Any, ...], numbers: Mapping[str, int], now: datetime) -> tuple[AccountId, Known]:
    member_id, program, tier, balance, country, invited, number, *used = row
    known = Known(
        tier,
        None if country is None else AccountBalance(balance, country),
        frozenset(invited) if invited else _NONE,
        _NOTHING_USED if used[0] is None else _by_offer(used),
        numbers.get(member_id) if number is None else number,
        now,
    )
    return (member_id, program), known


def _by_offer(used: Sequence[Collection[Any]]) -> Mapping[str, Taken]:
    taken: dict[str, dict[date | None, Amounts]] = {}
    for offer, day, *amounts in zip(*used, strict=True):
        taken.setdefault(offer, {})[day] = Amounts(*amounts)
    return taken
