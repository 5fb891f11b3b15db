"""What a second person's approval lets happen: exactly the version that was submitted is in force."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from abacus.core.clock import Clock
from abacus.core.fields import DocumentFaults
from abacus.documents.kind import Around
from abacus.documents.stated import Change, Running
from abacus.documents.stated_store import StatedStore
from abacus.documents.types import Version
from abacus.people.decide.agreement import check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.types.approval import Approval, CannotExecute
from abacus.platform.postgres import Also


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
