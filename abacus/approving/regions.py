"""An edition of a country's regions, as another person approves it."""

import json

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.people.decide.agreement import check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval, CannotExecute
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool
from abacus.signals.places.region_desk import approved_document
from abacus.signals.places.region_store import RegionStore, Waiting


def entering(pool: Pool, clock: Clock) -> Executor:
    """Puts the edition that was approved in force."""
    store = RegionStore(pool)

    async def enter(approval: Approval, also: Also) -> None:
        content = json.loads(approval.document)
        waiting = Waiting(*(content[name] for name in Waiting._fields))
        country, number, _ = waiting
        changes, now = content["changes"], clock.now()
        entry = entry_of(
            approval.asked_by,
            Deed.EDIT_PLACES,
            f"regions:{country}",
            now,
            country=country,
            did="enter-regions",
            edition=f"{country}@{number}",
            approved_by=approval.decided_by,
            **{what: each["count"] for what, each in changes.items()},
        )
        try:
            entries = await store.entries(country, number)
            check_unchanged(approval, approved_document(waiting, entries, changes))
            await store.enter(waiting, approval.decided_by, now, with_entry(also, entry))
        except Refused as fault:
            raise CannotExecute(str(fault)) from None

    return enter
