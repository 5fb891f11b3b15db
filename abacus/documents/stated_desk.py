"""The one door to documents whose versions have states: drafted, submitted and moved here, with the log."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from abacus.core.clock import Clock
from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import Act, State
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around
from abacus.documents.stated import Change, Place, Running, Stated, StatedKind
from abacus.documents.stated_store import StatedStore
from abacus.documents.store import Look
from abacus.documents.types import Difference, DraftOutcome, Key, Record, Version
from abacus.people.decide.agreement import check_asks, check_unchanged
from abacus.people.store.approvals import Approvals, Executor
from abacus.people.types.approval import Approval, CannotExecute
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool, together


class StatedDesk(DocumentDesk[Running, Around]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    kind: StatedKind[Running, Around]

    def __init__(
        self, pool: Pool, clock: Clock, stated: StatedStore[Running, Around], approvals: Approvals, look: Look[Around]
    ) -> None:
        super().__init__(pool, clock, stated.kind, look)
        self._approvals = approvals
        self._stated = stated

    def check_publishes(self, by: Actor) -> None:
        """Nobody could approve what a login submits. Raises `CannotDecide`."""
        check_asks(by.source)

    async def publish(self, differences: Sequence[Difference[Running]], by: Actor) -> list[DraftOutcome[Running]]:
        """Drafts a version of each and submits it, all of them or none; a second person decides on each. Raises
        `DocumentFaults`, and `CannotDecide` for who may not ask.
        """
        submitted = await self._drafted(differences, by)
        return [DraftOutcome(record.document, record.document.label, approval) for record, approval in submitted]

    async def propose(self, draft: Running, by: Actor) -> tuple[Stated[Running], Approval]:
        """Drafts a version of what `read` has read, and submits it. Raises as `publish` does."""
        (submitted,) = await self._drafted(await self.differences([draft]), by)
        return submitted

    async def submit(self, version: Running, by: Actor) -> tuple[Stated[Running], Approval]:
        """Submits the latest version of a document. Raises as `publish` does."""
        self.check_publishes(by)
        around = await self.around()
        await self.read(self.kind.to_document(version), around)
        change, also = Change(by.source, self.now()), self._did(version, by, "submit")
        return await self._asked(await self._stated.submit(self.kind.name(version), around, change, also), by)

    async def move(
        self, document: Running, act: Act, reason: str, by: Actor, *, version: int | None = None
    ) -> Stated[Running]:
        """Pauses, resumes, withdraws or ends a version. Without one it is the version in force if the act can be done
        to that, or else the latest.
        """
        change, also = Change(by.source, self.now(), reason), self._did(document, by, act.value, reason=reason)
        return await self._stated.move(self.kind.name(document), version, act, change, also)

    async def neighbours(self) -> Mapping[Key, Running]:
        """The versions that wait for approval or are approved: what is over clashes with nothing."""
        return {self.kind.key(each): each for each in await self._stated.neighbours()}

    async def versions(self, name: str, label: str | None = None) -> list[Record[Running]]:
        """As `DocumentDesk.versions`; a document's key is its name."""
        versions = await self._store.history(name)
        if not versions:
            raise self.kind.unknown(label or name)
        return versions

    async def page(
        self, *, countries: Sequence[str] | None, state: State | None, after: str | None, limit: int
    ) -> Sequence[Stated[Running]]:
        """The latest version of each document, by name."""
        return await self._stated.page(self.now(), countries=countries, state=state, after=after, limit=limit)

    async def between(
        self,
        since: datetime,
        until: datetime,
        *,
        countries: Sequence[str] | None,
        after: Place | None = None,
        limit: int,
    ) -> Sequence[Stated[Running]]:
        """The versions that ran, run, or are to run at a time between two moments, by country and name."""
        return await self._stated.between(since, until, countries=countries, after=after, limit=limit)

    async def countries_between(
        self, since: datetime, until: datetime, *, countries: Sequence[str] | None
    ) -> Sequence[str]:
        """The countries of these versions, however many they are."""
        return await self._stated.countries_between(since, until, countries=countries)

    async def history(self, name: str) -> Sequence[Stated[Running]]:
        """All versions of a document; none where there is no such document."""
        return await self._stated.history(name)

    async def _drafted(
        self, differences: Sequence[Difference[Running]], by: Actor
    ) -> list[tuple[Stated[Running], Approval]]:
        self.check_publishes(by)
        log = [
            self._did(each.draft, by, did, **details)
            for each in differences
            for did, details in (("draft", {"changes": each.changes}), ("submit", {}))
        ]
        drafts, change = [each.draft for each in differences], Change(by.source, self.now())
        records = await self._stated.publish(drafts, await self.around(), change, together(*log))
        return [await self._asked(record, by) for record in records]

    async def _asked(self, record: Stated[Running], by: Actor) -> tuple[Stated[Running], Approval]:
        """With the approval that it waits for."""
        history = await self.history(self.kind.name(record.document))
        in_force = [each.document for each in history if each.in_force]
        changes = self.kind.changes(in_force[-1] if in_force else None, record.document)
        return record, await self._approvals.ask(self.kind.proposal(record.document, changes), by.agent)

    def _did(self, document: Running, by: Actor, did: str, **details: object) -> Also:
        return self.logged(self.kind.name(document), self.kind.country(document), by, did=did, **details)


async def _untried(_: object, __: object) -> None:
    """Reading is all that the kind does."""


def version_approval(
    store: StatedStore[Running, Around],
    clock: Clock,
    around: Callable[[], Awaitable[Around]],
    tried: Callable[[Mapping[str, Any], Around], Awaitable[object]] = _untried,
) -> Executor:
    """`tried` raises `DocumentFaults` for what reading does not find."""
    kind = store.kind

    async def run(approval: Approval, also: Also) -> None:
        content, now = json.loads(approval.document), clock.now()
        document, number = content[kind.word], content["version"]
        unapproved = Version(approval.subject, number, now, "", None, {"approved_at": None})
        version = kind.restore(document, unapproved)
        check_unchanged(approval, kind.proposed(version))
        change = Change(approval.asked_by, now, approved_by=approval.decided_by)
        published = await around()
        try:
            await tried(document, published)
            await store.approve(kind.name(version), number, published, change, also)
        except DocumentFaults as fault:
            raise CannotExecute(f"{version.label} does not fit what is published any more: {fault}") from None

    return run
