"""Looks up `member.*`, what the ledger and the tiers know of a member, and `segment.NAME`."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, Protocol, TypeAlias, TypeVar

from abacus.ledger.types.account import AccountBalance, AccountId
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import BASE_TIER
from abacus.signals.facts.decide.catalog import BALANCE, MEMBER, SEGMENT, TIER
from abacus.signals.facts.types import NOT_NOW, Found, Subject, Wish
from abacus.signals.segments.sets import Pair


class AMember(Subject, Protocol):
    """A member, in whose slice values lie."""

    @property
    def member_id(self) -> str: ...


AMemberT = TypeVar("AMemberT", bound=AMember)


async def in_reach(
    pool: Pool,
    wanted: Sequence[Wish[AMemberT]],
    load: Callable[[Sequence[Wish[AMemberT]]], Awaitable[Sequence[Found]]],
) -> list[Found]:
    """The values that `load` tells for members of one slice, in the order of the wishes."""

    async def look(_: slices.Slice, places: Sequence[int]) -> Iterable[tuple[int, Found]]:
        return zip(places, await load([wanted[place] for place in places]), strict=True)

    places = range(len(wanted))
    split = await slices.split(pool, places, look, member_of=lambda place: wanted[place][0].member_id)
    found = dict(chain.from_iterable(split.done))
    return [found.get(place, NOT_NOW) for place in places]


T = TypeVar("T")
# What is known of accounts; none is there of an account that there is not. Raises `Unavailable`.
Look: TypeAlias = Callable[[Collection[AccountId]], Awaitable[Mapping[AccountId, T]]]


class AnAccount(AMember, Protocol):
    """A member in a program."""

    @property
    def account(self) -> AccountId: ...


class MemberFacts:
    """A member's tier, balance and country, in a program."""

    origin: Final = MEMBER

    def __init__(self, pool: Pool, tiers: Look[str], standings: Look[AccountBalance]) -> None:
        self._pool = pool
        self._tiers = tiers
        self._standings = standings

    async def load(self, wanted: Sequence[Wish[AnAccount]]) -> list[Found]:
        return await in_reach(self._pool, wanted, self._load)

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """The tiers of accounts whose slice is not away or slow. Raises `Unavailable` when more is."""

        async def look(_: slices.Slice, part: Sequence[AccountId]) -> Iterable[tuple[AccountId, str]]:
            found = await self._tiers(part)
            return [(account, found.get(account, BASE_TIER)) for account in part]

        split = await slices.split(self._pool, accounts, look, member_of=lambda account: account[0])
        return dict(chain.from_iterable(split.done))

    async def _load(self, wanted: Sequence[Wish[AnAccount]]) -> list[Found]:
        accounts = {subject.account for subject, _ in wanted}
        texts = {side.text for _, side in wanted}
        tiers = await self._tiers(accounts) if TIER in texts else {}
        standings = await self._standings(accounts) if texts - {TIER} else {}
        return [
            _value(side.text, tiers.get(subject.account), standings.get(subject.account)) for subject, side in wanted
        ]


def _value(text: str, tier: str | None, standing: AccountBalance | None) -> Found:
    if text == TIER:
        return tier or BASE_TIER
    if standing is None:
        return 0 if text == BALANCE else None
    return standing.balance if text == BALANCE else standing.country


# Whether each segment has the member. Raises `Unavailable`.
InSegments: TypeAlias = Callable[[Collection[Pair]], Awaitable[Mapping[Pair, bool]]]


class SegmentFacts:
    """Whether the segment has the member."""

    origin: Final = SEGMENT

    def __init__(self, in_segments: InSegments) -> None:
        self._in_segments = in_segments

    async def load(self, wanted: Sequence[Wish[AMember]]) -> list[Found]:
        pairs = [(side.name, subject.member_id) for subject, side in wanted]
        found = await self._in_segments(set(pairs))
        return [found[pair] for pair in pairs]
