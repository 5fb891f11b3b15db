"""The tier keeper: points of the stream become tiers. A batch is a transaction in each slice that it has members of;
offsets are committed after them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.following.topic import read_records
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import until_available
from abacus.platform.postgres import Connection, Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.port import Cards
from abacus.programs.tiers.accounts import Overtaken, know, lock, write
from abacus.programs.tiers.calendar import hold_calendars
from abacus.programs.tiers.decide.heard import Heard, heard_in
from abacus.programs.tiers.decide.policy import ONE_DAY
from abacus.programs.tiers.decide.tier_change import Calendars, Change, Known, count
from abacus.programs.tiers.metrics import TIER_CHANGES, TIER_EVENTS

_RACES_BORNE: Final = 20


class _Kept(NamedTuple):
    counted: int
    seen: int
    changes: Sequence[Change]


class Keeper:
    """Any number of them share the stream's partitions. A repeated event changes nothing. Events of slices whose
    servers are away stay behind.
    """

    def __init__(self, pool: Pool, cards: Cards, clock: Clock, health: WorkerHealth) -> None:
        self._pool = pool
        self._cards = cards
        self._clock = clock
        self._health = health
        self._passed_over = PassedOver(pool)

    async def handle(self, records: Sequence[Record]) -> Sequence[Record]:
        """Returns when every record is counted, durably, except the returned records, which stay behind. A record that
        cannot be read holds up nothing. Raises `StartAgain`.
        """
        await self._passed_over.look()
        heard = read_records(records, heard_in)
        TIER_EVENTS.labels("ignored").inc(heard.ignored)
        TIER_EVENTS.labels("unreadable").inc(heard.unreadable)
        by_account: dict[AccountId, list[Heard]] = {}
        for each in heard.values:
            by_account.setdefault((each.member_id, each.program), []).append(each)
        if not by_account:
            return ()
        await until_available(lambda: self._split(by_account), self._health)
        return await self._passed_over.behind(records, heard_in)

    async def _split(self, heard: dict[AccountId, list[Heard]]) -> None:
        async def keep(slice_: slices.Slice, ids: Sequence[AccountId]) -> None:
            kept = await self.keep(slice_, {id_: heard[id_] for id_ in ids})
            TIER_EVENTS.labels("counted").inc(kept.counted)
            TIER_EVENTS.labels("seen").inc(kept.seen)
            for change in kept.changes:
                TIER_CHANGES.labels(change.program, change.reason, change.from_tier, change.to_tier).inc()

        await self._passed_over.split(heard, keep, member_of=lambda account: account[0])

    async def keep(self, slice_: slices.Slice, heard: dict[AccountId, list[Heard]]) -> _Kept:
        """Count what each account of the slice earned, in one transaction. Raises `Unavailable`."""
        book = await self._book_for([each for group in heard.values() for each in group])
        for _ in range(_RACES_BORNE):
            try:
                async with slice_.at() as connection, slices.in_place(connection):
                    return await self._keep(connection, heard, book)
            except Overtaken:
                continue
        raise Unavailable("tiers", f"the batch was overtaken by others {_RACES_BORNE} times running")

    async def _keep(self, connection: Connection, heard: dict[AccountId, list[Heard]], book: CardBook) -> _Kept:
        locked = await lock(connection, heard)
        countries = {each.country for group in heard.values() for each in group}
        countries |= {account.country for account in locked.values() if account.country is not None}
        calendars = Calendars(book, await hold_calendars(connection, countries))
        # No tally that could still matter ends before: points of a day make a tier that lasts beyond that day.
        floor = min(
            min(each.occurred_at.date() for group in heard.values() for each in group) - 2 * ONE_DAY,
            *(calendars.through(country) for country in countries),
        )
        known = await know(connection, heard, locked, lasting_beyond=floor)
        now = self._clock.now()
        pairs: list[tuple[Known, Known]] = []
        changes: list[Change] = []
        seen = 0
        for id_, group in heard.items():
            before = after = known[id_]
            for each in group:
                seen += each.seq <= after.account.last_seq
                after, decided = count(after, each, calendars, now)
                changes += decided
            pairs.append((before, after))
        await write(connection, locked.keys(), pairs, changes)
        return _Kept(sum(map(len, heard.values())) - seen, seen, changes)

    async def _book_for(self, heard: Sequence[Heard]) -> CardBook:
        """The cards, read once more if they lack the card of a country and time: perhaps it was published a moment ago.
        Points that are counted without their card are counted for no tier, ever.
        """
        earliest: dict[str, datetime] = {}
        for each in heard:
            known = earliest.get(each.country)
            if known is None or each.occurred_at < known:
                earliest[each.country] = each.occurred_at
        book = self._cards.book()
        if not all(book.covers(country, at) for country, at in earliest.items()):
            await self._cards.read_anew()
        return self._cards.book()
