"""The one door to the documents of a kind: drafts are read, compared, published and withdrawn here, with the log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.store import DocumentStore, Look, by_key, named, numbered
from abacus.documents.types import Difference, Document, DraftOutcome, Key, Record, Version
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures, together


class DocumentDesk(Generic[Document, Around]):
    """Rights are checked by the caller. Every method raises `Unavailable` while the database is away, and `Refused` for
    what cannot be done.
    """

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        kind: DocumentKind[Document, Around],
        look: Look[Around],
        *,
        from_the_start: Sequence[Record[Document]] = (),
    ) -> None:
        self.kind = kind
        self._pool = pool
        self._clock = clock
        self._look = look
        self._from_the_start = from_the_start
        self._store = DocumentStore(pool, kind)

    async def around(self) -> Around:
        """What drafts are judged by."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return await self._look(connection)

    async def read(self, document: Mapping[str, object], around: Around) -> Document:
        """The draft of a document. Raises `DocumentFaults`."""
        return await self.kind.read(document, around)

    async def faults_beside(self, draft: Document, around: Around, /) -> list[Fault]:
        """What keeps a draft from being published beside the other documents."""
        return self.kind.check(draft, (await self.neighbours()).values(), around)

    async def neighbours(self) -> Mapping[Key, Document]:
        """What a draft is judged beside: the latest version of each document."""
        return await self.latest()

    async def latest(self) -> Mapping[Key, Document]:
        """The latest version of each document."""
        return {each.version.key: each.document for each in await self._store.latest()}

    async def records(self) -> list[Record[Document]]:
        """The latest version of each document, with the documents that are there from the start."""
        return [*self._from_the_start, *await self._store.latest()]

    async def versions(self, name: str, label: str | None = None) -> list[Record[Document]]:
        """All versions of a document; `label` names the version in question, for the refusal of an unknown name."""
        latest = named(self.kind, name, await self.records(), label)
        first = [each for each in self._from_the_start if each.version.key == latest.version.key]
        return [*first, *await self._store.history(latest.version.key)]

    async def version(self, label: str) -> Record[Document]:
        """A version; without its number, the latest."""
        name, _ = self.kind.split_label(label)
        return numbered(self.kind, label, await self.versions(name, label))

    async def standing(self) -> list[Record[Document]]:
        """Every version that is in force, or is to be."""
        histories = by_key(await self._store.history())
        return [record for history in histories.values() for record in self.kind.standing(history, self.now())]

    async def differences(self, drafts: Sequence[Document]) -> list[Difference[Document]]:
        """What each draft changes; the version that it displaces may be a draft before it."""
        kind, now = self.kind, self.now()
        histories = by_key(await self._store.history(*{kind.key(draft) for draft in drafts}) if drafts else [])
        found = []
        for draft in drafts:
            history = histories[kind.key(draft)]
            difference = kind.difference(draft, history)
            if difference.changes:
                number = history[-1].version.number + 1 if history else 1
                history.append(Record(draft, Version(kind.key(draft), number, now, "", None, kind.own(draft))))
                difference = difference._replace(label=kind.label(history[-1]))
            found.append(difference)
        return found

    async def displaced(self, draft: Document) -> Record[Document] | None:
        """The version that a draft takes the place of."""
        before, _ = self.kind.between(draft, await self._store.history(self.kind.key(draft)))
        return before

    def check_publishes(self, by: Actor) -> None:
        """Whether somebody may publish at all, whatever it is."""

    async def publish(self, differences: Sequence[Difference[Document]], by: Actor) -> Sequence[DraftOutcome[Document]]:
        """Publishes the drafts, all of them or none."""
        return await self._publish(differences, by)

    async def withdraw(self, name: str, reason: str, by: Actor, *, also: Also = nothing_else) -> Record[Document]:
        """Takes the latest version of a document out of force."""
        document = named(self.kind, name, await self._store.latest()).document
        told = self.logged(name, self.kind.country(document), by, did=self.kind.withdrawals.act, reason=reason)
        also = together(told, also)
        return await self._store.withdraw(name, by=by.source, reason=reason, now=self.now(), also=also)

    def now(self) -> datetime:
        return self._clock.now()

    def logged(self, name: str, country: str | None, by: Actor, **details: object) -> Also:
        """The entry of the log, to be written in the transaction of the deed."""
        subject = f"{self.kind.subject}:{name}"
        return noted(entry_of(by.source, self.kind.deed, subject, self.now(), country=country, **details))

    async def _publish(
        self, differences: Sequence[Difference[Document]], by: Actor, *more: Also
    ) -> list[DraftOutcome[Document]]:
        kind, drafts = self.kind, [each.draft for each in differences]
        entries = [
            self.logged(kind.name(each.draft), kind.country(each.draft), by, changes=each.changes)
            for each in differences
        ]
        records = await self._store.publish(
            drafts, self._look, by=by.source, now=self.now(), also=together(*entries, *more)
        )
        return [DraftOutcome(record.document, kind.label(record)) for record in records]
