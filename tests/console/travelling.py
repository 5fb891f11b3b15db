"""Journeys that run in the console's tests: in two versions, with members inside, and by hand."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.engage.journeys.desk import JourneyDesk
from abacus.people.store.approvals import Approvals
from tests.console.desk import Desk
from tests.documents.samples import JOURNEYS
from tests.engage.journeys.trip import Trip
from tests.people.approving import ANN, BEN

_NODES: Final[dict[str, Any]] = JOURNEYS.document["nodes"]
# In the second version the wait is called otherwise, and lasts longer.
RENAMED: Final[dict[str, Any]] = {
    **JOURNEYS.document,
    "begin": "rest",
    "nodes": {
        "rest": {"wait": {"for": "3d"}, "next": "thanks"},
        **{name: node for name, node in _NODES.items() if name != "pause"},
    },
}
BY_HAND: Final[dict[str, Any]] = {
    **JOURNEYS.document,
    "name": "lapsing",
    "entry": {"api": True},
    "context": {"points": "integer", "lapses_at": "time", "is_vip": "boolean", "shops": "texts"},
}


async def run(open_desk: Desk, *documents: Mapping[str, Any]) -> None:
    journeys, approvals = open_desk.rooms[JourneyDesk], open_desk.rooms[Approvals]
    for document in documents:
        _, approval = await journeys.propose(await journeys.read(document), ANN)
        await approvals.approve(approval.approval_id, BEN, approval.digest)


async def two_versions(open_desk: Desk, name: str = "welcome") -> None:
    """Two members are inside the first one."""
    await run(open_desk, {**JOURNEYS.document, "name": name})
    (record,) = await open_desk.rooms[JourneyDesk].history(name)
    await Trip(open_desk.pool, record.document).enter(1, 2)
    await run(open_desk, {**RENAMED, "name": name})
