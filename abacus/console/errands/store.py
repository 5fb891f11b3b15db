"""Errands in Postgres: asked for by pages, taken by the processes of the console, each by one of them."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from abacus.console.errands.decide.command_output import command_line
from abacus.console.errands.types import EVERYTHING, Errand, ErrandOutcome, Narrowed, Order, Room, State
from abacus.core.clock import Clock
from abacus.core.tokens import NewToken
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters

_HOUR: Final = timedelta(hours=1)
_ORDERED: Final = ("kind", "subject", "country", "arguments", "papers", "keeps")
LOST_AFTER: Final = timedelta(seconds=30)  # a process that was not seen for so long does not run it any more
_LOST: Final = "the process of the console that ran it has ended; ask for it again"
_ASK: Final = Statement(f"""
insert into console_errand ({columns(Errand)}) values ({parameters(Errand)})
""")
_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtextextended('errands of ' || :person_id, 0))")
_SAME: Final = Statement("""
select errand_id from console_errand
where errand_id = :errand_id::uuid or (
    asked_by = :asked_by and state in ('waiting', 'running') and kind = :kind and subject = :subject
    and country is not distinct from :country and arguments = :arguments::text[] and papers = :papers
    and keeps = :keeps::text[]
)
order by (errand_id = :errand_id::uuid) desc, asked_at limit 1
""")
_HAS: Final = Statement("""
select count(*) filter (where state in ('waiting', 'running')), count(*) filter (where asked_at > :since)
from console_errand where asked_by = :person_id and (state in ('waiting', 'running') or asked_at > :since)
""")
_QUEUE: Final = Statement("""
select count(*), coalesce(extract(epoch from :now::timestamptz - min(asked_at)), 0)::float8 from console_errand
where state = 'waiting'
""")
_FIND: Final = Statement(f"select {columns(Errand)} from console_errand where errand_id = :errand_id")
_NEWEST: Final = Statement(f"""
select {columns(Errand)} from console_errand
where kind = :kind and subject = :subject order by asked_at desc limit :limit
""")
_ALL: Final = Statement(f"""
select {columns(Errand)} from console_errand
where (:countries::text[] is null or country = any(:countries))
    and (:state::text is null or state = :state) and (:kind::text is null or kind = :kind)
    and (:country::text is null or country = :country)
    and (:since::timestamptz is null or asked_at >= :since) and (:until::timestamptz is null or asked_at < :until)
    and (:at::timestamptz is null or (asked_at, errand_id) < (:at, :id::uuid))
order by asked_at desc, errand_id desc limit :limit
""")
_SORTS: Final = Statement("""
select distinct kind, country from console_errand
where :countries::text[] is null or country = any(:countries) order by kind, country
""")
_OUTPUT: Final = Statement("select output from console_errand where errand_id = :errand_id")
_FILES: Final = Statement("select name from console_errand_file where errand_id = :errand_id order by name")
_FILE: Final = Statement("select content from console_errand_file where errand_id = :errand_id and name = :name")
_CANCEL: Final = Statement("""
update console_errand set state = 'cancelled', ended_at = :now, told = :told
where errand_id = :errand_id and state in ('waiting', 'running')
""")
_TAKE: Final = Statement(f"""
update console_errand set state = 'running', runner = :runner, started_at = :now, seen_at = :now,
    token_prefix = :prefix, token_digest = :digest
where errand_id = (
    select e.errand_id from console_errand e
    where e.state = 'waiting' and :of_one > (
        select count(*) from console_errand r
        where r.asked_by = e.asked_by and r.state = 'running' and r.runner = :runner
    )
    order by (select max(r.started_at) from console_errand r where r.asked_by = e.asked_by) nulls first,
        e.asked_at, e.errand_id
    limit 1 for update of e skip locked
)
returning {columns(Errand)}
""")
_BEAT: Final = Statement("""
update console_errand set seen_at = :now, progress = coalesce(:progress, progress)
where errand_id = :errand_id and state = 'running' and runner = :runner returning true
""")
_END: Final = Statement("""
update console_errand set state = :state, ended_at = :now, exit_code = :exit_code, told = :told, output = :output
where errand_id = :errand_id and state = 'running' and runner = :runner returning true
""")
_KEEP: Final = Statement("""
insert into console_errand_file (errand_id, name, content) values (:errand_id, :name, :content)
""")
_GIVE_UP: Final = Statement("""
update console_errand set state = 'failed', ended_at = :now, told = :told
where state = 'running' and seen_at < :before
""")


class ErrandStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, room: Room | None = None) -> None:
        self._pool = pool
        self._clock = clock
        self._room = room or Room()

    async def ask(self, errand_id: UUID, order: Order, person_id: str) -> UUID:
        """Leaves the order to be taken; returns its errand. The same id a second time changes nothing, and the same
        order of the same person, while it waits or runs, is that errand. Raises `TooMany`.
        """
        row = Errand(
            errand_id=errand_id,
            kind=order.kind,
            subject=order.subject,
            country=order.country,
            command=command_line(order.arguments),
            arguments=list(order.arguments),
            papers=json.dumps(dict(order.papers)),
            keeps=list(order.keeps),
            asked_by=person_id,
            asked_at=self._clock.now(),
        )
        values = row._asdict()
        same = {name: values[name] for name in ("errand_id", "asked_by", *_ORDERED)}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK(person_id=person_id))
            found = await connection.fetchval(*_SAME(**same))
            if found is not None:
                return UUID(str(found))
            open_, lately = await connection.fetchrow(*_HAS(person_id=person_id, since=row.asked_at - _HOUR))
            self._room.check(open_, lately)
            await connection.execute(*_ASK(**values))
        return errand_id

    async def find(self, errand_id: UUID) -> Errand | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(errand_id=errand_id))
        return _errand(row) if row else None

    async def newest(self, kind: str, subject: str, *, limit: int = 1) -> Sequence[Errand]:
        async with passing_failures():
            rows = await self._pool.fetch(*_NEWEST(kind=kind, subject=subject, limit=limit))
        return [_errand(row) for row in rows]

    async def all(
        self,
        countries: Sequence[str] | None,
        *,
        after: tuple[datetime, UUID] | None,
        limit: int,
        narrowed: Narrowed = EVERYTHING,
    ) -> Sequence[Errand]:
        """Of these countries, or of all, the newest first; `after` is the time and the id of the errand before."""
        at, id_ = after or (None, None)
        given = {"countries": countries if countries is None else list(countries), "at": at, "id": id_}
        async with passing_failures():
            rows = await self._pool.fetch(*_ALL(**given, **narrowed._asdict(), limit=limit))
        return [_errand(row) for row in rows]

    async def kinds_and_countries(self, countries: Sequence[str] | None) -> Sequence[tuple[str, str | None]]:
        """Each kind with each country that there is, of these countries or of all."""
        async with passing_failures():
            rows = await self._pool.fetch(*_SORTS(countries=countries if countries is None else list(countries)))
        return [(row[0], row[1]) for row in rows]

    async def output(self, errand_id: UUID) -> Any:
        """The document that the command printed; None before it ended."""
        async with passing_failures():
            found = await self._pool.fetchval(*_OUTPUT(errand_id=errand_id))
        return json.loads(found) if found else None

    async def files(self, errand_id: UUID) -> Sequence[str]:
        async with passing_failures():
            return [row[0] for row in await self._pool.fetch(*_FILES(errand_id=errand_id))]

    async def file(self, errand_id: UUID, name: str) -> bytes | None:
        async with passing_failures():
            found = await self._pool.fetchval(*_FILE(errand_id=errand_id, name=name))
        return bytes(found) if found is not None else None

    async def cancel(self, errand_id: UUID, *, by: str) -> None:
        """The process that runs it ends the command within a second."""
        given = {"errand_id": errand_id, "now": self._clock.now(), "told": f"cancelled by {by}"}
        async with passing_failures():
            await self._pool.execute(*_CANCEL(**given))

    async def waiting(self) -> tuple[int, float]:
        """How many wait, and for how many seconds the first of them."""
        async with passing_failures():
            number, seconds = await self._pool.fetchrow(*_QUEUE(now=self._clock.now()))
        return number, seconds

    async def take(self, runner: UUID, token: NewToken, *, of_one: int = 1) -> Errand | None:
        """The next errand, from now on this process's: of the person whose last one was started before all others', and
        who has fewer than `of_one` running in this process. The token is good for it.
        """
        given = {
            "runner": runner,
            "of_one": of_one,
            "now": self._clock.now(),
            "prefix": token.prefix,
            "digest": token.digest,
        }
        async with passing_failures():
            row = await self._pool.fetchrow(*_TAKE(**given))
        return _errand(row) if row else None

    async def beat(self, errand_id: UUID, runner: UUID, progress: str | None) -> bool:
        """Notes that it still runs. Returns whether it is still to."""
        given = {"errand_id": errand_id, "runner": runner, "progress": progress, "now": self._clock.now()}
        async with passing_failures():
            return bool(await self._pool.fetchval(*_BEAT(**given)))

    async def end(self, errand_id: UUID, runner: UUID, outcome: ErrandOutcome) -> None:
        given = outcome._asdict() | {"errand_id": errand_id, "runner": runner, "now": self._clock.now()}
        files = given.pop("files")
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if await connection.fetchval(*_END(**given)):
                for name, content in files.items():
                    await connection.execute(*_KEEP(errand_id=errand_id, name=name, content=content))

    async def give_up_lost(self) -> None:
        """Errands whose process has ended have failed: it is for people to say whether they are to run again."""
        now = self._clock.now()
        async with passing_failures():
            await self._pool.execute(*_GIVE_UP(now=now, before=now - LOST_AFTER, told=_LOST))


def _errand(row: Sequence[Any]) -> Errand:
    errand = Errand(*row)
    return errand._replace(state=State(errand.state))
