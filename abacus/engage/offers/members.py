"""What is known of a member who asks for offers: read once for a request, together with other members, and remembered
for some seconds.
"""

from collections.abc import Collection, Mapping, Sequence
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
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.store_rounds import StoreRounds
from abacus.platform.reading.types import Route
from abacus.platform.sql import Statement
from abacus.programs.tiers.store import TIER
from abacus.signals.segments.numbers import NUMBER, MemberNumbers

AGE_S: Final = 5.0  # for which a process remembers a member, at most
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


def _size(account: AccountId, known: Known) -> int:
    """In bytes, about."""
    return sum(map(len, account)) + 40 * len(known.invited) + 400 * len(known.used) + 500


# Rounds have a deadline and a breaker of their own.
MEMBERS: Final = Route[AccountId, Known]("members", Lifetimes(AGE_S), 128 * 1024 * 1024, _size, within_s=None)

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
        caches: Caches,
        health: Health | None = None,
    ) -> None:
        self._pool = pool
        self._numbers = MemberNumbers(pool)
        # Numbers lie with the members where the ledger is not cut.
        self._with_number, self._without = _known(standing, NUMBER), _known(standing, _NO_NUMBER)
        self._clock = clock
        self._rounds: StoreRounds[AccountId, Known] = StoreRounds(
            DEPENDENCY, self._round, within_s=_WITHIN_S, at_once=_AT_ONCE, health=health
        )
        self._remembered = caches.of(MEMBERS, self._rounds.read)

    async def of(self, account: AccountId) -> Known:
        """What was read of the member in these last seconds, or is read now. Raises `Unavailable`."""
        return (await self._remembered.get(account)).value

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
        return await slices.split(self._pool, accounts, work, member_of=itemgetter(0), reads=True)

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
