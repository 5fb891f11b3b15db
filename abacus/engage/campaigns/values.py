"""The values that rules of campaigns look up: each kind of a whole round in one call."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, Protocol

from abacus.engage.campaigns.counter_values import CounterValues
from abacus.engage.campaigns.decide.progress import NONE, asked_place, told
from abacus.engage.campaigns.decide.sides import Origin, rank_of
from abacus.engage.campaigns.progress_rows import read_progress
from abacus.engage.campaigns.subject import Wishes
from abacus.ledger.types.account import AccountId, Standing
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.slices.sliced import at_member, slicing_of, unless_away
from abacus.pricing.decide.card import BASE_TIER
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Side
from abacus.signals.rules.rounds import NOT_NOW, NotNow
from abacus.signals.segments.sets import Pair

_SEGMENT: Final = f"{Origin.SEGMENT}."
_EXTERNAL: Final = f"{Origin.EXTERNAL}."
_ORIGINS: Final = tuple(Origin)


class Members(Protocol):
    """What is known of accounts. Both raise `Unavailable`."""

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]: ...
    async def standings_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, Standing]:
        """Of those accounts that there are."""
        ...


# Whether each segment has the member. Raises `Unavailable`.
InSegments = Callable[[Collection[Pair]], Awaitable[Mapping[Pair, bool]]]

# The values of a service for some events, in order. Raises `Unavailable`.
AskService = Callable[[str, Sequence[Event]], Awaitable[Sequence[Value | NotNow | None]]]


class Values:
    """`rules.rounds.Sources` for campaigns."""

    def __init__(
        self,
        pool: Pool,
        *,
        members: Members,
        counters: CounterValues,
        segments: InSegments,
        services: AskService,
    ) -> None:
        self._pool = pool
        self._members = members
        self._counters = counters
        self._segments = segments
        self._services = services

    def rank(self, side: Side) -> int:
        return rank_of(side)

    async def load(self, rank: int, wanted: Wishes) -> Sequence[Value | AtLeast | NotNow | None]:
        """Raises `Unavailable`."""
        match _ORIGINS[rank]:
            case Origin.SEGMENT:
                return await self._of_segments(wanted)
            case Origin.MEMBER:
                return await self._in_reach(wanted, self._of_members)
            case Origin.CAMPAIGN:
                return await self._in_reach(wanted, self._of_campaigns)
            case Origin.COUNTER:
                return await self._counters.of(wanted)
            case Origin.EXTERNAL:
                return await self._of_services(wanted)

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """Of those accounts whose server is not away. Raises `Unavailable` when more is."""
        tiers: dict[AccountId, str] = {}
        for part in (await slicing_of(self._pool)).by_slice(accounts, lambda account: account[0]).values():
            found = await unless_away(self._pool, self._members.tiers_of(part))
            if found is not None:
                tiers |= {account: found.get(account, BASE_TIER) for account in part}
        return tiers

    async def _of_segments(self, wanted: Wishes) -> list[Value | None]:
        pairs = [(side.text.removeprefix(_SEGMENT), subject.member_id) for subject, _, side in wanted]
        found = await self._segments(set(pairs))
        return [found[pair] for pair in pairs]

    async def _in_reach(
        self, wanted: Wishes, load: Callable[[Wishes], Awaitable[Sequence[Value | AtLeast | None]]]
    ) -> list[Value | AtLeast | NotNow | None]:
        """Values of members, of each slice by itself. They cannot be told while the slice's server is away."""
        found: dict[int, Value | AtLeast | NotNow | None] = {}
        slicing = await slicing_of(self._pool)
        for places in slicing.by_slice(range(len(wanted)), lambda place: wanted[place][0].member_id).values():
            values = await unless_away(self._pool, load([wanted[place] for place in places]))
            found |= dict(zip(places, [NOT_NOW] * len(places) if values is None else values, strict=True))
        return [found[place] for place in range(len(wanted))]

    async def _of_members(self, wanted: Wishes) -> list[Value | None]:
        accounts = {subject.account for subject, _, _ in wanted}
        kinds = {side.text for _, _, side in wanted}
        tiers = await self._members.tiers_of(accounts) if "member.tier" in kinds else {}
        standings = await self._members.standings_of(accounts) if kinds - {"member.tier"} else {}
        return [
            _of_member(side.text, tiers.get(subject.account), standings.get(subject.account))
            for subject, _, side in wanted
        ]

    async def _of_campaigns(self, wanted: Wishes) -> list[Value | AtLeast | None]:
        """Of members of one slice. Where an event follows another, it may be more once that one is decided."""
        places = [
            asked_place(subject.campaign, subject.member_id, event.occurred_at, side.text)
            for subject, event, side in wanted
        ]
        async with passing_failures(), at_member(self._pool, places[0].member_id) as connection:
            progress = await read_progress(connection, sorted(set(places)))
        values = [
            told(progress.get(place, NONE), side.text) for place, (_, _, side) in zip(places, wanted, strict=True)
        ]
        return [
            AtLeast(value) if subject.follows else value for value, (subject, _, _) in zip(values, wanted, strict=True)
        ]

    async def _of_services(self, wanted: Wishes) -> list[Value | NotNow | None]:
        """Each service is asked for all of its events together."""
        places: dict[str, list[int]] = {}
        for place, (_, _, side) in enumerate(wanted):
            places.setdefault(side.text.removeprefix(_EXTERNAL), []).append(place)
        found: dict[int, Value | NotNow | None] = {}
        for name, of_service in places.items():
            values = await self._services(name, [wanted[place][1] for place in of_service])
            found |= dict(zip(of_service, values, strict=True))
        return [found[place] for place in range(len(wanted))]


def _of_member(text: str, tier: str | None, standing: Standing | None) -> Value | None:
    if text == "member.tier":
        return tier or BASE_TIER
    if standing is None:
        return 0 if text == "member.balance" else None
    return standing.balance if text == "member.balance" else standing.country
