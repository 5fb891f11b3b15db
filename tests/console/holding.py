"""Items of the quarantine, and a selection of them, as tests have them."""

from typing import Final
from uuid import UUID

from abacus.console.selections.store import SelectionStore
from abacus.core.errors import Reason
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from tests.console.desk import Desk

SELECTION: Final = UUID("00000000-0000-4000-8000-000000000003")
ITEM: Final = Item(
    Stage.TRANSACTION, "kafka:t/0/1", Reason.UNKNOWN_TIER, "no tier <script>", b'{"transaction_id": "T-1"}', key="T-1"
)


async def hold(open_desk: Desk, *items: Item) -> None:
    await open_desk.rooms[QuarantineStore].add(items or [ITEM])


async def hold_and_select(open_desk: Desk) -> None:
    await hold(open_desk)
    await open_desk.rooms[SelectionStore].freeze(SELECTION, "ticked", [ITEM.id], "ann")
