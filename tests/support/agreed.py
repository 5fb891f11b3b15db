"""Documents that somebody drafts and submits, and that a second person agrees to."""

from datetime import datetime, timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.documents.stated import Change, StatedKind
from abacus.documents.stated_store import StatedStore
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals
from abacus.people.store.people import PeopleStore
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool
from tests.support.logged import logged
from tests.support.staff import ADMIN

ANN: Final = Actor("ann", ())


async def agree(
    pool: Pool,
    kind: StatedKind[Any, Any],
    store: StatedStore[Any, Any],
    draft: Any,
    around: Any,
    *,
    approved_at: datetime | None = None,
) -> Any:
    """The version, which is in force. It was approved a minute ago, unless another time is given."""
    now = SystemClock().now()
    by_ann = Change("person:ann", now)
    (version,) = await store.draft([draft], around, by_ann)
    name = kind.name(version)
    await store.submit(name, around, by_ann)

    async def run(_: Approval, also: Also) -> None:
        approved = Change("person:ann", approved_at or now - timedelta(minutes=1), approved_by="person:eve")
        await store.approve(name, version.version, around, approved, also)

    approvals = Approvals(pool, SystemClock(), {kind.approval: run})
    asked = await approvals.ask(kind.proposal(version, []), ANN.agent)
    await approvals.approve(asked.approval_id, await eve(pool), asked.digest)
    return version


async def eve(pool: Pool) -> Actor:
    """Somebody who approves."""
    somebody = Actor("eve", parse_grants(["approver"]))
    people = PeopleStore(pool, SystemClock())
    if somebody.name not in {each.person.person_id for each in await people.all()}:
        logs = logged(f"person:{somebody.name}", Deed.MANAGE_PEOPLE)
        await people.create(somebody.name, parse_grants(["approver"]), by=ADMIN, also=logs)
    return somebody
