"""Published documents in Postgres: versions count from 1, and none is ever changed."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias

from pydantic_core import from_json

from abacus.core.errors import Refused, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.statements import JOIN_BY_HASH, Statements
from abacus.documents.types import Document, Key, Record, Version, Withdrawal
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures

# What drafts are judged by, read while nobody else publishes.
Look: TypeAlias = Callable[[Connection], Awaitable[Around]]

_OWN_FROM: Final = 8  # the columns of every kind come first


class DocumentStore(Generic[Document, Around]):
    """Reads, publishes and withdraws. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, kind: DocumentKind[Document, Around]) -> None:
        self._pool = pool
        self._reader = Reader(kind)
        self._kind = kind

    async def publish(
        self,
        drafts: Sequence[Document],
        look: Look[Around],
        *,
        by: str,
        now: datetime,
        also: Also = nothing_else,
        own: Mapping[str, Any] = MappingProxyType({}),
    ) -> list[Record[Document]]:
        """Gives each draft its next version; all are published, or none. Publishers of a kind wait for each other.
        `own` has columns of the kind that no document tells.

        Raises `DocumentFaults` for a draft that does not fit beside the others, and `Refused` for a draft that
        changes nothing.
        """
        async with publishing(self._pool, self._reader) as connection:
            around = await look(connection)
            kind, published = self._kind, []
            histories = by_key(await self._reader.history(connection, {kind.key(draft) for draft in drafts}))
            latest = {each.version.key: each.document for each in await self._reader.latest(connection)}
            for draft in drafts:
                history = histories[kind.key(draft)]
                judged = await self._judged(draft, history, latest, around)
                number = history[-1].version.number + 1 if history else 1
                version = Version(kind.key(judged), number, now, by, None, own)
                record = await self._reader.insert(connection, judged, version)
                published.append(record)
                history.append(record)
                latest[record.version.key] = record.document
            await also(connection)
            return published

    async def withdraw(
        self,
        name: str,
        *,
        by: str,
        reason: str,
        now: datetime,
        number: int | None = None,
        check: Also = nothing_else,
        also: Also = nothing_else,
    ) -> Record[Document]:
        """Takes a version out of force; without its number, the latest. Raises `Refused` when there is none, when it is
        withdrawn already, and as `check` does.
        """
        async with publishing(self._pool, self._reader) as connection:
            record = named(self._kind, name, await self._reader.latest(connection))
            if number is not None:
                history = await self._reader.history(connection, {record.version.key})
                record = numbered(self._kind, f"{name}@{number}", history)
            version = record.version
            if (withdrawal := version.withdrawal) is not None:
                done, at = self._kind.withdrawals.done, withdrawal.at.isoformat()
                raise Refused(f"{self._kind.label(record)} was {done} by {withdrawal.by} at {at} already")
            await check(connection)
            given = {"key": version.key, "version": version.number, "now": now, "by": by, "reason": reason}
            await connection.execute(*self._reader.statements.withdraw(**given))
            await also(connection)
            withdrawn = version._replace(withdrawal=Withdrawal(now, by, reason))
            return self._reader.restored(self._kind.to_document(record.document), withdrawn)

    async def latest(self, known: Mapping[str, Document] = MappingProxyType({})) -> list[Record[Document]]:
        """The latest version of each document, by key. Documents that are known by their marks are not read again."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._reader.latest(connection, known)

    async def history(self, *keys: Key, known: Mapping[str, Document] = MappingProxyType({})) -> list[Record[Document]]:
        """All versions of these documents, or of all, by key and version. As `latest`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._reader.history(connection, set(keys) if keys else None, known)

    async def _judged(
        self,
        draft: Document,
        history: Sequence[Record[Document]],
        latest: Mapping[Key, Document],
        around: Around,
    ) -> Document:
        """Raises `DocumentFaults` and `Refused`."""
        kind = self._kind
        judged = await kind.read(kind.to_document(draft), around)
        if faults := kind.check(judged, latest.values(), around):
            raise DocumentFaults(faults)
        difference = kind.difference(judged, history)
        if not difference.changes:
            raise Refused(f"{difference.against} is this {kind.word} already: nothing to publish")
        return judged


class Reader(Generic[Document, Around]):
    """Reads the versions of a kind in a transaction that reads more than these."""

    def __init__(self, kind: DocumentKind[Document, Around]) -> None:
        self._kind = kind
        self.statements = Statements(kind.table)
        self._own = [*kind.table.own, *kind.table.told]

    async def latest(
        self, connection: Connection, known: Mapping[str, Document] = MappingProxyType({})
    ) -> list[Record[Document]]:
        return await self.found(connection, self.statements.latest(known=list(known)), known)

    async def held(self, connection: Connection) -> list[Record[Document]]:
        """The latest versions; none is published until the transaction ends."""
        await connection.execute(*self.statements.hold())
        return await self.latest(connection)

    async def history(
        self,
        connection: Connection,
        keys: Collection[Key] | None = None,
        known: Mapping[str, Document] = MappingProxyType({}),
    ) -> list[Record[Document]]:
        given = None if keys is None else list(keys)
        return await self.found(connection, self.statements.history(keys=given, known=list(known)), known)

    async def found(
        self,
        connection: Connection,
        query: Sequence[Any],
        known: Mapping[str, Document] = MappingProxyType({}),
    ) -> list[Record[Document]]:
        """What a statement of the table finds, called with its values."""
        await connection.execute(JOIN_BY_HASH)
        rows = await connection.fetch(*query)
        return [self._record(row, known) for row in rows]

    async def insert(self, connection: Connection, document: Document, version: Version) -> Record[Document]:
        written, own = self._kind.to_document(document), {**self._kind.own(document), **version.own}
        row = {"key": version.key, "version": version.number, "at": version.published_at, "by": version.published_by}
        await connection.execute(*self.statements.insert(document=json.dumps(written), **row, **own))
        return self.restored(written, version._replace(own=own))

    def restored(self, document: Mapping[str, Any], version: Version) -> Record[Document]:
        """A newer Abacus may have published a version that this one cannot read. Work under it waits for the upgrade:
        the version before would do it wrongly. Raises `Unavailable`.
        """
        try:
            return Record(self._kind.restore(document, version), version)
        except DocumentFaults as faults:
            label = f"{version.key}@{version.number}"
            why = f"this version of Abacus cannot read {label}: {faults.faults[0]}"
            raise Unavailable(self._kind.plural, why) from faults

    def _record(self, row: Any, known: Mapping[str, Document]) -> Record[Document]:
        key, number, document, at, by, *withdrawn = row[:_OWN_FROM]
        withdrawal = None if withdrawn[0] is None else Withdrawal(*withdrawn)
        own = dict(zip(self._own, row[_OWN_FROM:], strict=True))
        version = Version(key, number, at, by, withdrawal, own)
        if document is None:
            return Record(known[version.mark], version)
        return self.restored(from_json(document), version)


@asynccontextmanager
async def publishing(pool: Pool, reader: Reader[Any, Any]) -> AsyncIterator[Connection]:
    """A transaction that changes documents of the kind, one after another."""
    async with passing_failures(), pool.acquire() as connection, connection.transaction():
        await connection.execute(*reader.statements.lock())
        yield connection


def by_key(records: Sequence[Record[Document]]) -> defaultdict[Key, list[Record[Document]]]:
    """The versions of each document."""
    histories: defaultdict[Key, list[Record[Document]]] = defaultdict(list)
    for record in records:
        histories[record.version.key].append(record)
    return histories


def named(
    kind: DocumentKind[Document, Around], name: str, records: Sequence[Record[Document]], label: str | None = None
) -> Record[Document]:
    """The last one of the name. Raises `Refused` where there is none."""
    fitting = [each for each in records if kind.name(each.document) == name]
    if not fitting:
        raise kind.unknown(label or name)
    return fitting[-1]


def numbered(kind: DocumentKind[Document, Around], label: str, history: Sequence[Record[Document]]) -> Record[Document]:
    """A version; without a number in its label, the latest. Raises `Refused`."""
    _, number = kind.split_label(label)
    fitting = [each for each in history if number in {None, each.version.number}]
    if not fitting:
        raise kind.unknown_version(label)
    return fitting[-1]
