"""The one door to documents of which a second person approves each version: asked for here, and published once agreed.

A version has the column `approved_by`. Documents whose versions have states of their own have a `StatedDesk`.
"""

import json
from collections.abc import Sequence
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.store import DocumentStore, Look
from abacus.documents.types import Difference, Document, DraftOutcome
from abacus.people.decide.agreement import canonical, check_asks, check_unchanged
from abacus.people.store.approvals import Approvals, Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval, ApprovalKind, CannotExecute, Proposal
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool, passing_failures

NOTHING_CHANGES: Final = "nothing changes"


class ApprovedDesk(DocumentDesk[Document, Around]):
    """Callers check rights. Every method raises `Unavailable` while the database is away, and `Refused` for what cannot
    be done.
    """

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        kind: DocumentKind[Document, Around],
        look: Look[Around],
        *,
        approvals: Approvals,
        asked_as: ApprovalKind,
    ) -> None:
        super().__init__(pool, clock, kind, look)
        self._approvals = approvals
        self._asked_as = asked_as

    def check_publishes(self, by: Actor) -> None:
        """Nobody could approve what a login asks for. Raises `CannotDecide`."""
        check_asks(by.source)

    async def publish(self, differences: Sequence[Difference[Document]], by: Actor) -> Sequence[DraftOutcome[Document]]:
        """Has a second person decide on each."""
        return [DraftOutcome(each.draft, None, await self._asked(each, by)) for each in differences]

    async def ask(self, draft: Document, by: Actor) -> Approval:
        """Has a second person decide on the draft. Raises `CannotDecide` if `by` may not ask."""
        (difference,) = await self.differences([draft])
        return await self._asked(difference, by)

    async def _asked(self, difference: Difference[Document], by: Actor) -> Approval:
        if not difference.changes:
            raise Refused(f"{difference.against} is this {self.kind.word} already: nothing to publish")
        wanted = proposal_of(self.kind, self._asked_as, difference.draft, difference.changes)
        return await self._approvals.ask(wanted, by.agent)


def proposal_of(
    kind: DocumentKind[Document, Around], asked_as: ApprovalKind, draft: Document, changes: Sequence[str]
) -> Proposal:
    """What a second person decides on."""
    return Proposal(
        kind=asked_as,
        subject=kind.name(draft),
        country=kind.country(draft),
        summary=f"publish a {kind.word} of {kind.name(draft)}: {'; '.join(changes) or NOTHING_CHANGES}",
        document=canonical(kind.to_document(draft)),
    )


def document_approval(pool: Pool, clock: Clock, kind: DocumentKind[Document, Around], look: Look[Around]) -> Executor:
    """Publishes what was approved as the next version."""
    store = DocumentStore(pool, kind)

    async def publish(approval: Approval, also: Also) -> None:
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            around = await look(connection)
        by, second, now = approval.asked_by, approval.decided_by, clock.now()
        try:
            draft = await kind.read(json.loads(approval.document), around)
            check_unchanged(approval, canonical(kind.to_document(draft)))
            entry = entry_of(
                by,
                kind.deed,
                f"{kind.subject}:{kind.name(draft)}",
                now,
                country=approval.country,
                approved_by=second,
                changes=kind.difference(draft, await store.history(kind.key(draft))).changes,
            )
            own, also = {"approved_by": second}, with_entry(also, entry)
            await store.publish([draft], look, by=by, now=now, own=own, also=also)
        except DocumentFaults as fault:
            raise CannotExecute(f"the {kind.word} cannot be published any more: {fault}") from None

    return publish
