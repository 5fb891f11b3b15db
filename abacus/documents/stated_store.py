"""Versions with states in Postgres: they count from 1, no document is ever changed, and each has a state."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, Generic

from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import Act, State, Status, check_step, may_follow
from abacus.documents.kind import Around
from abacus.documents.stated import Change, Place, Running, Stated, StatedKind, stated
from abacus.documents.statements import StatedStatements
from abacus.documents.store import Reader, publishing
from abacus.documents.types import Version
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement

_AT_ONCE: Final = 100  # documents, of which each takes a fifth of a millisecond to read


class StatedStore(Generic[Running, Around]):
    """Reads versions and changes their states. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, kind: StatedKind[Running, Around]) -> None:
        self.kind = kind
        self._pool = pool
        self._reader = Reader(kind)
        self._sql = StatedStatements(kind.table)

    async def draft(
        self, drafts: Sequence[Running], around: Around, change: Change, also: Also = nothing_else
    ) -> list[Running]:
        """Gives each document its next version, a draft; all of them, or none. A draft before it is ended. A name
        belongs to its first country.

        Raises `DocumentFaults` for a document that does not fit what is published, and `Refused` for a version that is
        there.
        """
        async with publishing(self._pool, self._reader) as connection:
            numbered = [await self._drafted(connection, draft, around, change) for draft in drafts]
            await also(connection)
            return numbered

    async def publish(
        self, drafts: Sequence[Running], around: Around, change: Change, also: Also = nothing_else
    ) -> list[Stated[Running]]:
        """Drafts a version of each and submits it; all of them, or none. Raises as `draft` and `submit` do."""
        async with publishing(self._pool, self._reader) as connection:
            for draft in drafts:
                await self._drafted(connection, draft, around, change)
            submitted = [await self._submitted(connection, self.kind.name(draft), around, change) for draft in drafts]
            await also(connection)
            return submitted

    async def submit(self, name: str, around: Around, change: Change, also: Also = nothing_else) -> Stated[Running]:
        """The latest version of a document, which waits for approval from now on. It is judged again. Raises
        `DocumentFaults` and `Refused`.
        """
        async with publishing(self._pool, self._reader) as connection:
            submitted = await self._submitted(connection, name, around, change)
            await also(connection)
            return submitted

    async def approve(
        self, name: str, version: int, around: Around, change: Change, also: Also = nothing_else
    ) -> Stated[Running]:
        """The version is in force, and the one before is not any more. It is judged again. Raises `DocumentFaults` and
        `Refused`.
        """
        async with publishing(self._pool, self._reader) as connection:
            history = await self._history(connection, name)
            record = self._versioned(name, version, history)
            await self._judge(connection, record.document, around)
            for before in history:
                if before.document.version != version and before.status is not Status.ENDED:
                    await self._replaced(connection, before, record.document.label, change)
            approved = await self._step(connection, record, Act.APPROVE, change)
            await also(connection)
            return approved

    async def move(
        self, name: str, version: int | None, act: Act, change: Change, also: Also = nothing_else
    ) -> Stated[Running]:
        """Pauses, resumes, withdraws, exhausts or ends a version. Without one it is the version in force if the act can
        be done to that, or else the latest. Raises `Refused`.
        """
        async with publishing(self._pool, self._reader) as connection:
            history = await self._history(connection, name)
            latest = self._named(name, history)
            if version is not None:
                record = self._versioned(name, version, history)
            else:
                record = next((each for each in history if each.in_force and may_follow(each.status, act)), latest)
            moved = await self._step(connection, record, act, change)
            await also(connection)
            return moved

    async def neighbours(self) -> list[Running]:
        """The versions that wait for approval or are approved, by name; none for a kind that asks nothing of them."""
        if not self.kind.is_checked_beside:
            return []
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._beside(connection)

    async def page(
        self,
        now: datetime,
        *,
        countries: Sequence[str] | None = None,
        state: State | None = None,
        after: str | None = None,
        limit: int,
    ) -> list[Stated[Running]]:
        """The latest version of each document of these countries, or of all, by name from behind `after` on."""
        given = countries if countries is None else list(countries)
        return await self._read(self._sql.page, countries=given, state=state, after=after, now=now, limit=limit)

    async def between(
        self,
        since: datetime,
        until: datetime,
        *,
        countries: Sequence[str] | None = None,
        after: Place | None = None,
        limit: int,
    ) -> list[Stated[Running]]:
        """The versions that ran, run, or are to run at a time between two moments, of these countries or of all, by
        country and name from behind `after` on.
        """
        given = countries if countries is None else list(countries)
        country, name, version = after or (None, None, None)
        place = {"after_country": country, "after_name": name, "after_version": version}
        within = {"since": since, "until": until, "countries": given}
        found = await self._read(self._sql.between, **within, **place, limit=limit)
        return sorted(found, key=lambda each: self.kind.place(each.document))

    async def countries_between(
        self, since: datetime, until: datetime, *, countries: Sequence[str] | None = None
    ) -> list[str]:
        """The countries of the versions that `between` has."""
        given = countries if countries is None else list(countries)
        async with passing_failures():
            rows = await self._pool.fetch(*self._sql.countries_between(since=since, until=until, countries=given))
        return [row[0] for row in rows]

    async def history(self, name: str) -> list[Stated[Running]]:
        """All versions of a document."""
        return await self._read(self._reader.statements.history, keys=[name])

    async def find(self, versions: Sequence[tuple[str, int]]) -> list[Stated[Running]]:
        """The asked versions, by name and number, as far as they are there."""
        names, numbers = [name for name, _ in versions], [number for _, number in versions]
        return await self._read(self._sql.versions, names=names, versions=numbers)

    async def in_force(self, now: datetime, known: Mapping[str, Running] = MappingProxyType({})) -> list[Running]:
        """The versions that are approved and not paused, and versions that ended a while ago. Documents that are known
        by their labels are not read again.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(*self._sql.in_force(since=now - self.kind.late))
            labels = {f"{name}@{version}": (name, version) for name, version in rows}
            read = {**known}
            unread = [labels[label] for label in labels if label not in known]
            for first in range(0, len(unread), _AT_ONCE):  # others work in between
                names, versions = zip(*unread[first : first + _AT_ONCE], strict=True)
                query = self._sql.versions(names=names, versions=versions, known=[])
                for record in await self._reader.found(connection, query):
                    read[record.version.mark] = record.document
        return [read[label] for label in labels]

    async def _read(self, statement: Statement, **given: object) -> list[Stated[Running]]:
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._found(connection, statement, **given)

    async def _found(self, connection: Connection, statement: Statement, **given: object) -> list[Stated[Running]]:
        return [stated(record) for record in await self._reader.found(connection, statement(known=[], **given))]

    async def _history(self, connection: Connection, name: str) -> list[Stated[Running]]:
        return await self._found(connection, self._reader.statements.history, keys=[name])

    async def _drafted(self, connection: Connection, draft: Running, around: Around, change: Change) -> Running:
        """The next version of a document, which ends a draft before it. Raises `DocumentFaults` and `Refused`."""
        kind = self.kind
        judged = await kind.read(kind.to_document(draft), around)
        name, country = kind.name(judged), kind.country(judged)
        history = await self._history(connection, name)
        before = history[-1] if history else None
        if before is not None and kind.country(before.document) != country:
            raise Refused(f"{name} is a {kind.word} of {kind.country(before.document)}: write another name")
        written = kind.to_document(judged)
        if before is not None and before.status is not Status.ENDED and kind.to_document(before.document) == written:
            raise Refused(f"{before.document.label} is this {kind.word} already, and {before.status}")
        number = before.document.version + 1 if before is not None else 1
        if before is not None and before.status in {Status.DRAFT, Status.SUBMITTED}:
            await self._replaced(connection, before, f"{name}@{number}", change)
        own = {
            "country": country,
            "starts_at": judged.starts_at,
            "ends_at": judged.ends_at,
            "status": Status.DRAFT.value,
            "changed_at": change.now,
            "changed_by": change.by,
            "approved_by": None,
            "approved_at": None,
            "reason": None,
        }
        version = Version(kind.key(judged), number, change.now, change.by, None, own)
        return (await self._reader.insert(connection, judged, version)).document

    async def _submitted(self, connection: Connection, name: str, around: Around, change: Change) -> Stated[Running]:
        """The latest version, which waits for approval from now on. Raises `DocumentFaults` and `Refused`."""
        record = self._named(name, await self._history(connection, name))
        await self._judge(connection, record.document, around)
        return await self._step(connection, record, Act.SUBMIT, change)

    async def _judge(self, connection: Connection, version: Running, around: Around) -> None:
        """Raises `DocumentFaults` for what does not fit what is published now, or clashes with other versions."""
        kind = self.kind
        await kind.read(kind.to_document(version), around)
        beside = await self._beside(connection) if kind.is_checked_beside else []
        if faults := kind.check(version, [each for each in beside if kind.key(each) != kind.key(version)], around):
            raise DocumentFaults(faults)

    async def _beside(self, connection: Connection) -> list[Running]:
        return [each.document for each in await self._found(connection, self._sql.beside)]

    async def _step(self, connection: Connection, record: Stated[Running], act: Act, change: Change) -> Stated[Running]:
        return await self._set(connection, record, check_step(record.document, record.status, act, change.now), change)

    async def _replaced(self, connection: Connection, record: Stated[Running], by: str, change: Change) -> None:
        await self._set(connection, record, Status.ENDED, change._replace(reason=f"replaced by {by}"))

    async def _set(
        self, connection: Connection, record: Stated[Running], to: Status, change: Change
    ) -> Stated[Running]:
        version = record.document
        given = {"key": self.kind.key(version), "version": version.version, "status": to.value, **change._asdict()}
        await connection.execute(*self._sql.set(**given))
        return record._replace(
            status=to,
            changed_at=change.now,
            changed_by=change.by,
            reason=change.reason,
            approved_by=record.approved_by or change.approved_by,
            approved_at=record.approved_at or (change.now if change.approved_by is not None else None),
        )

    def _named(self, name: str, history: Sequence[Stated[Running]]) -> Stated[Running]:
        if not history:
            raise self.kind.unknown(name)
        return history[-1]

    def _versioned(self, name: str, version: int, history: Sequence[Stated[Running]]) -> Stated[Running]:
        self._named(name, history)
        for record in history:
            if record.document.version == version:
                return record
        command = f"abacus {self.kind.command} {self.kind.versions} {name}"
        raise Refused(f"{name} has no version {version}; `{command}` prints all")
