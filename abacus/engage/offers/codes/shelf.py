"""What taking offers asks of codes: which there are, and that a reservation has taken one.

A code is taken by a row that names its reservation. Where the row names another one, that reservation tells in its
slice whether it has ended: then its row goes, and the code is free.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.offers.codes.code_key import CodeRules
from abacus.engage.offers.codes.code_uses import Holders, drop, reopen
from abacus.engage.offers.decide.single_code import (
    SingleCode,
    Taking,
    can_be_there,
    digest_of,
    readable,
)
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_GATHER_S: Final = 0.002
_MOST_TOGETHER: Final = 400
_ROUNDS_AT_ONCE: Final = 2
_MOST_WAITING: Final = 10_000
_TRIES: Final = 5

Found: TypeAlias = Mapping[bytes, Sequence[SingleCode]]  # by their digests
Wanted: TypeAlias = tuple[Taking, ...]  # of one request
Lost: TypeAlias = frozenset[UUID]  # reservations whose code another one has


class _Place(NamedTuple):
    """Where a code lies."""

    digest: bytes
    pool: int


_FIND: Final = Statement("""
select c.digest, p.offer, c.pool, c.batch, u.reservation_id, u.until, u.used_at is not null as is_used
from offer_code c join offer_pool p on p.number = c.pool
join offer_code_batch b on b.pool = c.pool and b.batch = c.batch
left join offer_code_use u on u.digest = c.digest and u.pool = c.pool
where c.digest = any(:digests::bytea[]) and b.withdrawn_at is null
""")
# The uses alone: of the sandbox, which has no codes.
_USES: Final = Statement("""
select digest, pool, reservation_id, until, used_at is not null as is_used
from offer_code_use where digest = any(:digests::bytea[])
""")
_TAKE: Final = Statement(f"""
insert into offer_code_use ({columns(Taking)})
select u.* from {unnested(Taking, pool="integer", batch="integer")} order by u.digest, u.pool
on conflict do nothing returning reservation_id
""")
_TAKEN: Final = Statement(f"""
select t.digest, t.pool, t.reservation_id from {unnested(_Place, pool="integer")}
join offer_code_use t on t.digest = u.digest and t.pool = u.pool
""")
_HAS: Final = Statement("select exists (select from offer_code_use where reservation_id = :id)")


class CodeShelf:
    """One for each process. Its methods raise `Unavailable`: nothing has changed then, or it is found when it comes
    again. `close` waits for what is in progress. Codes are `loaded` where they are used, unless another place is named.
    """

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        rules: Callable[[], CodeRules],
        holders: Holders,
        *,
        loaded: Pool | None = None,
        gather_s: float = _GATHER_S,
        most_together: int = _MOST_TOGETHER,
    ) -> None:
        self._pool = pool
        self._loaded = loaded or pool
        self._clock = clock
        self._rules = rules
        self._holders = holders
        self._ended: set[UUID] = set()
        self._finding: Gatherer[Sequence[bytes], Found] = Gatherer(
            self._find_round, gather_s=gather_s, most_together=most_together, at_once=_ROUNDS_AT_ONCE
        )
        self._taking: Gatherer[Wanted, Lost] = Gatherer(
            self._take_round, gather_s=gather_s, most_together=most_together, at_once=_ROUNDS_AT_ONCE
        )

    def rehearsing(self, pool: Pool, holders: Holders, loaded: Pool) -> "CodeShelf":
        """The same codes, which lie in `loaded`, for the sandbox: it keeps by itself which of them are taken there."""
        return CodeShelf(pool, self._clock, self._rules, holders, loaded=loaded)

    async def found(self, typed: Sequence[str]) -> Mapping[str, Sequence[SingleCode]]:
        """For each typed code the pools that have it. A slip in a code costs no look into the database."""
        if not typed:
            return {}
        rules = self._rules()
        codes = {each: code for each in typed if (code := readable(each)) is not None}
        there = {each: code for each, code in codes.items() if can_be_there(code, all_checked=rules.all_checked)}
        if rules.key is None or not there:
            return dict.fromkeys(typed, ())
        digests = {each: digest_of(code, rules.key) for each, code in there.items()}
        found = await self._finding.ask(list(digests.values()))
        return {each: found.get(digests[each], ()) if each in digests else () for each in typed}

    async def take(self, wanted: Sequence[Taking]) -> Lost:
        """Reservations take their codes; returns the reservations whose code another one has. A reservation keeps
        what it has taken before.
        """
        if not wanted:
            return frozenset()
        if self._taking.waiting >= _MOST_WAITING:
            raise Unavailable("database", "too many codes wait for it")
        return await self._taking.ask(tuple(wanted))

    async def has_code(self, reservation_id: UUID) -> bool:
        async with passing_failures():
            has: bool = await self._pool.fetchval(*_HAS(id=reservation_id))
        return has

    async def reopen(self, reservation_id: UUID) -> None:
        """Before something of the redemption is rolled back."""
        await reopen(self._pool, reservation_id, self._clock.now())

    def note_end(self, reservation_id: UUID) -> None:
        """It was redeemed, or has ended: the sweeper looks at its code soon."""
        self._ended.add(reservation_id)

    def ended(self) -> Collection[UUID]:
        """They are told once."""
        ended, self._ended = self._ended, set()
        return ended

    async def close(self) -> None:
        await self._finding.close()
        await self._taking.close()

    async def _find_round(self, together: Sequence[PendingRequest[Sequence[bytes], Found]]) -> None:
        found: dict[bytes, list[SingleCode]] = {}
        for code in await self._codes(list({each for pending in together for each in pending.request})):
            found.setdefault(code.digest, []).append(code)
        for each in together:
            each.answer(found)

    async def _codes(self, digests: Sequence[bytes]) -> Sequence[SingleCode]:
        async with passing_failures():
            rows = await self._loaded.fetch(*_FIND(digests=digests))
            codes = [
                SingleCode(offer, pool, batch, digest, *taken)
                for digest, offer, pool, batch, *taken in map(tuple, rows)
            ]
            if self._loaded is self._pool:
                return codes
            uses = {(row[0], row[1]): row[2:] for row in map(tuple, await self._pool.fetch(*_USES(digests=digests)))}
        return [SingleCode(*code[:4], *uses.get((code.digest, code.pool), ())) for code in codes]

    async def _take_round(self, together: Sequence[PendingRequest[Wanted, Lost]]) -> None:
        left = {each.reservation_id: each for pending in together for each in pending.request}
        lost: set[UUID] = set()
        for _ in range(_TRIES):
            holders = await self._take(list(left.values()))
            ended = await self._holders.ended({each for each in holders.values() if each is not None})
            await drop(self._pool, ended)
            again = {id_ for id_, holder in holders.items() if holder is None or holder in ended}
            lost |= holders.keys() - again
            left = {id_: left[id_] for id_ in again}
            if not left:
                break
        for each in together:
            if any(one.reservation_id in left for one in each.request):
                each.refuse(Unavailable("database", "the code changes hands at the moment"))
            else:
                each.answer(frozenset(one.reservation_id for one in each.request if one.reservation_id in lost))

    async def _take(self, wanted: Sequence[Taking]) -> Mapping[UUID, UUID | None]:
        """For each reservation that got no code, the reservation that has it; None where that one has just lost it."""
        rows = sorted(wanted)
        async with passing_failures():
            made = {row["reservation_id"] for row in await self._pool.fetch(*_TAKE(**arrays(Taking, rows)))}
            rest = [each for each in rows if each.reservation_id not in made]
            if not rest:
                return {}
            places = [_Place(each.digest, each.pool) for each in rest]
            taken = await self._pool.fetch(*_TAKEN(**arrays(_Place, places)))
        holders = {(row["digest"], row["pool"]): row["reservation_id"] for row in taken}
        found = {each.reservation_id: holders.get((each.digest, each.pool)) for each in rest}
        return {id_: holder for id_, holder in found.items() if holder != id_}
