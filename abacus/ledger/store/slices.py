"""Work on a ledger in slices: each slice's part in transactions of its own, and keys that are unique over all slices.

A key is entered in the register, with its slice, before anything is written under it; the row never changes. So the
same key for members of two slices is seen before the second is paid.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from abacus.core.errors import Unavailable
from abacus.ledger.store.key_search import claims_in
from abacus.ledger.types.port import Claim, SliceAway, Unpostable
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.key_register import entered
from abacus.platform.postgres import DEPENDENCY, REFUSED_VALUES, Pool
from abacus.platform.slices import Slice, side_by_side, slice_map_of, slices_of

MOST_TOGETHER: Final = 1000  # things in a round, unless one caller brings more
PATIENCE_S: Final = 5.0  # with a slice whose part takes longer than other slices'; it may wait for another's locks
_ROUNDS_AT_ONCE: Final = 2  # of one server; what comes for a slice whose round waits goes with it


class OfMember(Protocol):
    """What concerns one member."""

    @property
    def member_id(self) -> str: ...


Thing = TypeVar("Thing", bound=OfMember)
Result = TypeVar("Result")

# Does the things of one slice; the claims are other slices'.
Work: TypeAlias = Callable[[Slice, Sequence[Thing], Mapping[str, Claim]], Awaitable[Sequence[Result]]]


class _Part(NamedTuple, Generic[Thing]):
    """What one caller has for one slice, and the claims that other slices have of its keys."""

    things: Sequence[Thing]
    elsewhere: Mapping[str, Claim]


_Request: TypeAlias = PendingRequest[_Part[Thing], Sequence[Result]]


class SliceRounds(Generic[Thing, Result]):
    """Hands each slice what callers have for it, in rounds: while one is under way, what comes for its slice waits for
    the next. The writers of a slice take turns anyhow, and a transaction with many things costs little more than one
    with few. For the same reason only a few rounds of a server run at a time.

    While the server of a slice is away, or has a round under way for so long that others would wait for it, its things
    have the result `waits`, if others of their caller were done.
    """

    def __init__(
        self,
        pool: Pool,
        keys_of: Callable[[Thing], Iterable[str]],
        work: Work[Thing, Result],
        waits: Callable[[Thing], Result],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._pool = pool
        self._patience_s = patience_s
        self._keys_of = keys_of
        self._work = work
        self._waits = waits
        self._begun: dict[int, float] = {}  # when the round of a slice that is under way was begun
        self._gatherers: dict[int, Gatherer[_Part[Thing], Sequence[Result]]] = {}
        self._rooms: defaultdict[Pool, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_ROUNDS_AT_ONCE))

    async def do(self, things: Sequence[Thing]) -> list[Result]:
        """The results in the order of the things. What is done in one slice stays done when another fails. Raises
        `Unavailable` when no slice could be reached (`SliceAway`, when others could), `Unpostable` when a value is
        refused, and what the work raises.
        """
        try:
            slices = await slices_of(self._pool)
            if len(slices) == 1:
                return list(await self._work(slices[0], things, {}))
            return await self._by_slice(slices, things)
        except REFUSED_VALUES as error:
            raise Unpostable(" ".join(str(error).split())) from error

    async def _by_slice(self, slices: Sequence[Slice], things: Sequence[Thing]) -> list[Result]:
        slice_map = await slice_map_of(self._pool)
        places = slice_map.by_slice(range(len(things)), lambda place: things[place].member_id)
        parts = {number: [things[place] for place in places[number]] for number in places}
        foreign = await self._foreign(things, places)
        answers = dict[int, Sequence[Result] | BaseException]()
        # Slices whose keys are their own come first: a conflict with one of them can say then what was posted.
        for numbers in (parts.keys() - foreign.keys(), foreign.keys()):
            answers |= await side_by_side(
                {
                    number: partial(self._in_slice, slices[number], parts[number], foreign.get(number, {}))
                    for number in numbers
                },
                patience_s=self._patience_s,
                at_once=len(slices),
            )
        errors = [answer for answer in answers.values() if isinstance(answer, BaseException)]
        fatal = [error for error in errors if not isinstance(error, Unavailable)]
        if fatal or (errors and len(errors) == len(parts)):
            if not fatal and self._others_go_on(slices, parts):
                raise SliceAway("ledger", str(errors[0])) from errors[0]
            raise (fatal or errors)[0]
        results: dict[int, Result] = {}
        for number, answer in answers.items():
            done = map(self._waits, parts[number]) if isinstance(answer, BaseException) else answer
            results.update(zip(places[number], done, strict=True))
        return [results[place] for place in range(len(things))]

    def _others_go_on(self, slices: Sequence[Slice], parts: Collection[int]) -> bool:
        """Whether it is these slices that are held up, and not the ledger."""
        held_up = {each.number for each in slices if self._is_late(each.number) or each.is_away}
        return held_up.issuperset(parts) and len(held_up) < len(slices)

    def _is_late(self, number: int) -> bool:
        return number in self._begun and time.monotonic() - self._begun[number] > self._patience_s

    async def _foreign(self, things: Sequence[Thing], places: Mapping[int, Sequence[int]]) -> dict[int, dict[str, int]]:
        """By slice, its keys that belong to another slice, and to which. Enters keys that nobody has entered: the first
        of the things with the same key has it.
        """
        number_of = {place: number for number, part in places.items() for place in part}
        keys = [(key, number_of[place]) for place in range(len(things)) for key in self._keys_of(things[place])]
        wanted = dict(reversed(keys))
        holders = await entered(self._pool, wanted)
        foreign: defaultdict[int, dict[str, int]] = defaultdict(dict)
        if holders is not wanted or len(wanted) < len(keys):
            for key, number in keys:
                if holders[key] != number:
                    foreign[number][key] = holders[key]
        return foreign

    async def _in_slice(self, slice_: Slice, things: Sequence[Thing], foreign: Mapping[str, int]) -> Sequence[Result]:
        number = slice_.number
        if self._is_late(number):
            raise Unavailable(DEPENDENCY, f"slice {number} takes longer than others")
        elsewhere = await _claims_of(self._pool, foreign) if foreign else {}
        if number not in self._gatherers:
            room = partial(self._room, slice_)
            self._gatherers[number] = Gatherer(partial(self._round, slice_), gather_s=0, at_once=1, room=room)
        return await self._gatherers[number].ask(_Part(things, elsewhere))

    @asynccontextmanager
    async def _room(self, slice_: Slice) -> AsyncIterator[None]:
        """At the slice's server."""
        async with self._rooms[await slice_.server()]:
            self._begun[slice_.number] = time.monotonic()
            try:
                yield
            finally:
                del self._begun[slice_.number]

    async def _round(self, slice_: Slice, waiting: Sequence[_Request[Thing, Result]]) -> None:
        for together in _batches(waiting):
            await self._do(slice_, together)

    async def _do(self, slice_: Slice, together: Sequence[_Request[Thing, Result]]) -> None:
        """What one caller brought must not fail for what another did: after a failure each is done by itself."""
        things = [thing for each in together for thing in each.request.things]
        elsewhere = {key: claim for each in together for key, claim in each.request.elsewhere.items()}
        try:
            results = iter(await self._work(slice_, things, elsewhere))
        except Exception as error:  # noqa: BLE001  # whatever it is, each caller is told
            if len(together) == 1 or isinstance(error, Unavailable):
                for each in together:
                    each.refuse(error)
                return
            for each in together:
                await self._do(slice_, [each])
        else:
            for each in together:
                each.answer([next(results) for _ in each.request.things])


def _batches(waiting: Sequence[_Request[Thing, Result]]) -> Iterator[list[_Request[Thing, Result]]]:
    """The requests in their order, batched up to `MOST_TOGETHER` things."""
    batch: list[_Request[Thing, Result]] = []
    size = 0
    for each in waiting:
        size += len(each.request.things)
        if batch and size > MOST_TOGETHER:
            yield batch
            batch, size = [], len(each.request.things)
        batch.append(each)
    yield batch


async def _claims_of(pool: Pool, holders: Mapping[str, int]) -> dict[str, Claim]:
    """The claims of keys that belong to other slices. Where nothing is posted under such a key, or not yet, the claim
    names nobody.
    """
    parts: defaultdict[int, list[str]] = defaultdict(list)
    for key, number in holders.items():
        parts[number].append(key)
    return {key: Claim(key, "", "", 0, "") for key in holders} | await claims_in(pool, parts)
