"""The quarantine in Postgres."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.platform.postgres import Also, Pool, nothing_else, pages, passing_failures
from abacus.platform.quarantine.types import OF_EVENTS, HeldItem, Item, ReplayBatch, Stage
from abacus.platform.sql import Narrowed, Statement, arrays, columns, unnested

HELD: Final = "held"
REPLAYED: Final = "replayed"

_LONGEST_DETAIL: Final = 1000  # characters: what was set aside may have chosen them; its body is kept whole
_LARGEST_REPLAYED: Final = 180 * 1024  # in base64 still within SQS' 256 KiB


class _Row(NamedTuple):
    """A row of `quarantine`."""

    id: str
    stage: str
    origin: str
    reason: str
    detail: str
    body: bytes
    key: str | None
    fingerprint: str | None
    posted_fingerprint: str | None
    status: str
    set_aside_at: datetime
    replayed_at: datetime | None
    replays: int

    @classmethod
    def of(cls, item: Item, now: datetime) -> "_Row":
        return cls(
            id=item.id,
            stage=item.stage,
            origin=_storable(item.origin),
            reason=item.reason,
            detail=_storable(item.detail[:_LONGEST_DETAIL]),
            body=item.body,
            key=None if item.key is None else _storable(item.key),
            fingerprint=item.fingerprint,
            posted_fingerprint=item.posted_fingerprint,
            status=HELD,
            set_aside_at=now,
            replayed_at=None,
            replays=0,
        )

    @property
    def held(self) -> HeldItem:
        item = Item(
            stage=Stage(self.stage),
            origin=self.origin,
            reason=Reason(self.reason),
            detail=self.detail,
            body=self.body,
            key=self.key,
            fingerprint=self.fingerprint,
            posted_fingerprint=self.posted_fingerprint,
        )
        return HeldItem(item, self.status, self.set_aside_at, self.replayed_at, self.replays)


# An item that comes back after a replay is held again; setting it aside twice because of a crash changes nothing.
_ADD: Final = Statement(f"""
insert into quarantine as q ({columns(_Row)})
select u.* from {unnested(_Row)} order by u.id
on conflict (id) do update
    set status = excluded.status, reason = excluded.reason, detail = excluded.detail,
        set_aside_at = excluded.set_aside_at,
        fingerprint = excluded.fingerprint, posted_fingerprint = excluded.posted_fingerprint
    where q.status <> excluded.status
returning stage, reason
""")

_WHICH: Final = """(cardinality(:ids::text[]) = 0 or id = any(:ids))
    and (:status::text is null or status = :status) and (:reason::text is null or reason = :reason)
    and (:since::timestamptz is null or set_aside_at >= :since)
    and (:until::timestamptz is null or set_aside_at < :until)"""

_SINCE_UNTIL: Final = {"since": "set_aside_at >= :since", "until": "set_aside_at < :until"}
_BEHIND: Final = {"at": "set_aside_at <= :at and (set_aside_at < :at or id > :id)"}
_NEWEST: Final = "order by set_aside_at desc, id limit :limit"

# For each status and each reason a step along their index, however much is set aside.
_EACH: Final = "unnest(:statuses::text[]) s (of_status) cross join unnest(:reasons::text[]) r (of_reason)"
_OF_ONE: Final = "from quarantine where status = of_status and reason = of_reason"
_OF_EACH: Final = f"{_OF_ONE} {{and}}"
_LIST: Final = Narrowed(
    f"select {columns(_Row)} from {_EACH} cross join lateral (select * {_OF_EACH} {_NEWEST}) q {_NEWEST}",
    **_SINCE_UNTIL,
    **_BEHIND,
)
_COUNTS: Final = Narrowed(
    f"""
    select of_reason, sum(items)::bigint from {_EACH}
    cross join lateral (select count(*) as items from (select {_OF_EACH} limit :most) q) c
    where items > 0 group by of_reason order by of_reason
    """,
    **_SINCE_UNTIL,
)
_THESE: Final = Narrowed(
    f"""
    select {columns(_Row)} from quarantine
    where id = any(:ids::text[]) and status = any(:statuses::text[]) and reason = any(:reasons::text[]) {{and}}
    {_NEWEST}
    """,
    **_SINCE_UNTIL,
    **_BEHIND,
)

# JSON may write any letter in other letters, and an envelope may hold a message in base64: only a reader knows then.
_SPEAKING_OF: Final = Statement(f"""
select {columns(_Row)} from (
    select {columns(_Row)}, 1 as place from quarantine where key = any(:keys::text[])
    union all
    select {columns(_Row)}, case when position(convert_to(:text, 'UTF8') in body) > 0 then 2 else 3 end
    from (
        select {columns(_Row)} from {_EACH} cross join lateral (
            select * {_OF_ONE} order by set_aside_at desc, id limit :among
        ) q order by set_aside_at desc, id limit :among
    ) newest
    where (key is null or key <> all(:keys)) and (
        position(convert_to(:text, 'UTF8') in body) > 0
        or position('\\x5c'::bytea in body) > 0 or position('base64'::bytea in body) > 0
    )
) q
order by place, set_aside_at desc, id limit :most
""")
_HAS_MORE: Final = Statement("select exists (select from quarantine order by id offset :number limit 1)")

_ONE: Final = Statement(f"select {columns(_Row)} from quarantine where id = :id")

_IS_EVENT: Final = f"stage in ({', '.join(repr(stage.value) for stage in sorted(OF_EVENTS))})"
_REPLAYABLE: Final = f"""
select {columns(_Row)} from quarantine
where status = '{HELD}' and {_WHICH}
    and ({_IS_EVENT} or octet_length(body) <= {_LARGEST_REPLAYED})
order by set_aside_at, id limit :limit
"""
_LOOK: Final = Statement(_REPLAYABLE)
_TAKE: Final = Statement(f"{_REPLAYABLE} for update skip locked")

_REPLAYED: Final = Statement(f"""
update quarantine set status = '{REPLAYED}', replayed_at = :now, replays = replays + 1 where id = any(:ids::text[])
""")


_STILL_HELD: Final = Statement(f"""
update quarantine set status = '{HELD}', replayed_at = :replayed_at, replays = :replays, set_aside_at = :now,
    reason = :reason, detail = :detail
where id = :id
""")


_FORGET_REPLAYED: Final = Statement("select abacus_forget_replayed(:before, :most::integer)")


class Which(NamedTuple):
    """Which items are meant; None leaves a property open, and no ids leave them open."""

    status: str | None = HELD
    reason: Reason | None = None
    since: datetime | None = None
    until: datetime | None = None
    ids: Sequence[str] = ()


ALL_HELD: Final = Which()


def _newest_of(which: Which, limit: int | None, after: tuple[datetime, str] | None = None) -> tuple[Any, ...]:
    at, id_ = after or (None, None)
    place = {"since": which.since, "until": which.until, "at": at, "id": id_}
    if which.ids:
        return _THESE(place, ids=[*which.ids], **_sorts(which), limit=limit)
    return _LIST(place, **_sorts(which), limit=limit)


def _sorts(which: Which) -> Mapping[str, Sequence[str]]:
    """The statuses and the reasons that are meant."""
    return {
        "statuses": (HELD, REPLAYED) if which.status is None else (which.status,),
        "reasons": tuple(Reason) if which.reason is None else (which.reason,),
    }


class QuarantinePort(Protocol):
    """The place for items that cannot be processed."""

    async def add(self, items: Sequence[Item]) -> None:
        """Returns when every item is kept. Raises `Unavailable`."""
        ...


class QuarantineStore:
    """`QuarantinePort` on Postgres, and the actions of a person on the items."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def add(self, items: Sequence[Item]) -> None:
        await self.keep(items)

    async def keep(self, items: Sequence[Item]) -> Sequence[tuple[str, str]]:
        """`add`, and the stage and the reason of each item that was not there before."""
        unique = list({item.id: item for item in items}.values())
        if not unique:
            return []
        now = self._clock.now()
        async with passing_failures():
            new = await self._pool.fetch(*_ADD(**arrays(_Row, [_Row.of(item, now) for item in unique])))
        return [(stage, reason) for stage, reason in new]

    async def list(
        self, which: Which = ALL_HELD, *, limit: int = 100, after: tuple[datetime, str] | None = None
    ) -> Sequence[HeldItem]:
        """The newest items first; `after` is the time and the id of the item behind which they begin."""
        async with passing_failures():
            rows = await self._pool.fetch(*_newest_of(which, limit, after))
        return [_Row(*row).held for row in rows]

    async def all(self, which: Which) -> AsyncIterator[HeldItem]:
        """Every item, the newest first, however many."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(readonly=True):
            async for page in pages(connection, *_newest_of(which, None)):
                for row in page:
                    yield _Row(*row).held

    async def counts(self, which: Which = ALL_HELD, *, most: int | None = None) -> dict[Reason, int]:
        """By reason; counted to `most` of each status. Items by their ids are not counted."""
        async with passing_failures():
            rows = await self._pool.fetch(
                *_COUNTS({"since": which.since, "until": which.until}, **_sorts(which), most=most)
            )
        return {Reason(reason): count for reason, count in rows}

    async def speaking_of(
        self, keys: Sequence[str], text: str, *, among: int | None = None, most: int | None = None
    ) -> AsyncGenerator[HeldItem, None]:
        """Items under these keys, and then items `among` the newest whose body may have the text, first those that have
        it letter by letter: the caller reads whether the others have it.
        """
        given = {"keys": list(keys), "text": text, "among": among, "most": most, **_sorts(Which(status=None))}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(readonly=True):
            async for page in pages(connection, *_SPEAKING_OF(**given)):
                for row in page:
                    yield _Row(*row).held

    async def has_more_than(self, number: int) -> bool:
        async with passing_failures():
            return bool(await self._pool.fetchval(*_HAS_MORE(number=number)))

    async def get(self, id_: str) -> HeldItem | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_ONE(id=id_))
        return _Row(*row).held if row else None

    async def replayable(self, which: Which = ALL_HELD, *, limit: int = 100) -> Sequence[HeldItem]:
        """The items that `replaying` would take now, the oldest first."""
        async with passing_failures():
            rows = await self._pool.fetch(*_LOOK(**which._asdict(), limit=limit))
        return [_Row(*row).held for row in rows]

    @asynccontextmanager
    async def replaying(
        self, which: Which = ALL_HELD, *, limit: int = 100, also: Also = nothing_else
    ) -> AsyncIterator[ReplayBatch]:
        """Held items, marked as replayed when the block ends well: send them on inside it.

        An item that is too large for a queue stays held: it was never a transaction. An event is sent on by no queue.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = [_Row(*row) for row in await connection.fetch(*_TAKE(**which._asdict(), limit=limit))]
            # Marked before they are sent, in the same transaction: if one is refused again at once, its row is
            # written after ours and ends as held.
            await connection.execute(*_REPLAYED(ids=[row.id for row in rows], now=self._clock.now()))
            if rows:
                await also(connection)
            replaying = ReplayBatch([row.held for row in rows], {})
            yield replaying
            await connection.executemany(*_STILL_HELD.rows(_faulty(rows, replaying.unfit, self._clock.now())))

    async def forget_replayed(self, before: datetime, most: int) -> int:
        """Deletes items that were replayed before that time, `most` at once; returns how many. Items that came back are
        held, and stay; the database deletes none within 90 days.
        """
        async with passing_failures():
            return int(await self._pool.fetchval(*_FORGET_REPLAYED(before=before, most=most)))


def _faulty(rows: Sequence[_Row], unfit: Mapping[str, SetAside], now: datetime) -> list[dict[str, object]]:
    """The rows that stay held, with their latest faults."""
    return [
        {
            "id": row.id,
            "replayed_at": row.replayed_at,
            "replays": row.replays,
            "now": now,
            "reason": unfit[row.id].reason,
            "detail": _storable(unfit[row.id].detail[:_LONGEST_DETAIL]),
        }
        for row in rows
        if row.id in unfit
    ]


def _storable(text: str) -> str:
    """Postgres keeps every character but one, and UTF-8 has no lone surrogates."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
