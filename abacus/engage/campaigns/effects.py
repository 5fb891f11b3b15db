"""What comes of events, in Postgres: a batch is one transaction in each slice, and no event is ever decided twice.

Every batch takes its locks in one order, each sorted: progress, then limits, then claims, then progress that is new.
What comes of an event may follow from what comes of the events before it, so all are decided in memory in between.
Limits that all members share are taken from a slot of this process, which is filled up in transactions of its own. When
nothing is left to fill it up from, a batch locks the pot and then the slots of all processes, and what is too much is
refused (docs/adr/0055, 0061).
"""

import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.actions.action_store import plan
from abacus.engage.campaigns.decide.batch import Decided, decide
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.effects import actions_of
from abacus.engage.campaigns.decide.progress import ProgressPlace, places_of
from abacus.engage.campaigns.decide.run import Matched, Run
from abacus.engage.campaigns.progress_rows import lock_progress, write_progress
from abacus.engage.campaigns.sums import add_sums, done_before
from abacus.engage.limits.decide.pots import Limited, Pot, is_exhausted, limited_by, pot_of
from abacus.engage.limits.pot_store import SLOTS, PotStore
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, arrays, columns, unnested

# Is told the campaigns that can do nothing more.
OnExhausted = Callable[[Sequence[Campaign]], Awaitable[None]]

_PATIENCE_S: Final = 5.0  # with a slice whose part takes longer than others'; it may wait for another's locks
_RNG: Final = random.Random()


async def nobody_listens(_: Sequence[Campaign]) -> None:
    """Tells nobody."""


class _Claim(NamedTuple):
    """A row of `campaign_claim`."""

    key: str
    member_id: str
    campaign: str
    version: int
    decided_at: datetime


_CLAIMED: Final = Statement("select key from campaign_claim where key = any(:keys::text[])")
_CLAIM: Final = Statement(f"""
insert into campaign_claim ({columns(_Claim)}) select u.* from {unnested(_Claim)} order by u.key
on conflict do nothing returning key
""")


class Decisions(NamedTuple):
    """What came of events that were not decided before, in their order. `waiting` events are not decided: the server of
    their members is away, or a campaign waits that goes before in its exclusive group. `faulty` events have a fault.
    """

    runs: Sequence[Run]
    waiting: Sequence[Matched]
    faulty: Sequence[Matched] = ()


class _Overtaken(Exception):
    """Another process has decided one of these events meanwhile, or another event of such a member."""


class _Part(NamedTuple):
    """What came of the events of a slice, and the campaigns that are exhausted by them."""

    decided: Decided
    exhausted: Sequence[Campaign] = ()


class Effects:
    """Decides events for campaigns and records what follows. Every method raises `Unavailable` while the database is
    away; in each slice, nothing has happened then, or everything.
    """

    def __init__(
        self, pool: Pool, clock: Clock, *, slot: int | None = None, on_exhausted: OnExhausted = nobody_listens
    ) -> None:
        """`on_exhausted` is told the campaigns that can do nothing more, once all is durable, and may be told again."""
        self._pool = pool
        self._clock = clock
        self._slot = _RNG.randrange(SLOTS) if slot is None else slot
        self._pots = PotStore(pool, self._slot, done_before)
        self._on_exhausted = on_exhausted
        self._exhausted: dict[str, Campaign] = {}  # that nobody was told of yet

    async def decide(self, matched: Sequence[Matched]) -> Decisions:
        """What comes of these events. All of it is durable."""
        if not matched:
            return Decisions([], [])
        own = await slices.with_own_keys(self._pool, matched)
        split = await slices.split(self._pool, own, self._decide_in, patience_s=_PATIENCE_S)
        await self._tell()
        runs = {run.matched.key: run for each in split.done for run in each.runs}
        return Decisions(
            [run for each in matched if (run := runs.pop(each.key, None)) is not None],
            [*split.waiting, *(waiting for each in split.done for waiting in each.waiting)],
            [faulty for each in split.done for faulty in each.faulty],
        )

    async def _decide_in(self, slice_: slices.Slice, part: Sequence[Matched]) -> Decided:
        """What comes of the events of a slice's members."""
        matched = {each.key: each for each in part}

        async def work(connection: Connection, whole: Collection[Pot]) -> _Part:
            return await self._decide(connection, matched, whole)

        while True:
            try:
                done = await self._pots.within(slice_, lambda: _limited(part), work)
            except _Overtaken:
                continue
            self._exhausted |= {campaign.name: campaign for campaign in done.exhausted}
            return done.decided

    async def _tell(self) -> None:
        """A campaign that could not be told comes with the next batch, or with this batch when it is tried again."""
        untold, self._exhausted = self._exhausted, {}
        try:
            await self._on_exhausted(list(untold.values()))
        except BaseException:
            self._exhausted = untold | self._exhausted
            raise

    async def _decide(self, connection: Connection, matched: Mapping[str, Matched], whole: Collection[Pot]) -> _Part:
        """Raises `Short` and `_Overtaken`."""
        claimed = {row["key"] for row in await connection.fetch(*_CLAIMED(keys=list(matched)))}
        new = [each for key, each in matched.items() if key not in claimed]
        if not new:
            return _Part(Decided())
        progress = await lock_progress(connection, sorted({place for each in new for place in _places(each)}))
        pots = await self._pots.lock(connection, _limited(new), whole)
        decided = decide(matched.values(), progress, pots.left, {*whole, *pots.remembered}, claimed)
        if decided.runs:
            await self._pots.take(connection, pots, decided.taken)
            await self._write(connection, decided, progress)
        return _Part(decided, _exhausted(new, pots.left, decided, whole))

    async def _write(self, connection: Connection, decided: Decided, locked: Collection[ProgressPlace]) -> None:
        now = self._clock.now()
        claims = [
            _Claim(run.matched.key, run.matched.member_id, run.matched.campaign.name, run.matched.campaign.version, now)
            for run in decided.runs
        ]
        if len(await connection.fetch(*_CLAIM(**arrays(_Claim, claims)))) < len(claims):
            raise _Overtaken
        if not await write_progress(connection, decided.progress, locked):
            raise _Overtaken
        await plan(connection, [action for run in decided.runs for action in actions_of(run, now)], now)
        await add_sums(connection, decided.runs, self._slot)


def _exhausted(
    matched: Iterable[Matched], left: Mapping[Pot, Amounts], decided: Decided, whole: Collection[Pot]
) -> list[Campaign]:
    """The campaigns that have come to their limit, as far as their whole pots were at hand."""
    exhausted = {}
    for campaign in {each.campaign.name: each.campaign for each in matched}.values():
        pot = pot_of(campaign.owner)
        if pot in whole and is_exhausted(campaign, left[pot].minus(decided.taken.get(pot, NOTHING))):
            exhausted[campaign.name] = campaign
    return list(exhausted.values())


def _places(matched: Matched) -> Sequence[ProgressPlace]:
    return places_of(matched.campaign, matched.member_id, matched.event.occurred_at)


def _limited(matched: Iterable[Matched]) -> dict[Pot, Limited]:
    """The pots that these runs may take from."""
    limited: dict[Pot, Limited] = {}
    for each in matched:
        limited |= limited_by(each.campaign, each.event.occurred_at)
    return limited
