"""Errands as tests have them: asked for, and ended without a command."""

import json
from typing import Any, Final
from uuid import UUID, uuid4

from abacus.console.errands.acting import ERRAND_TOKEN
from abacus.console.errands.types import Order, Outcome, State
from tests.console.desk import Desk

FILE: Final = "rows.csv"
TABLE: Final = "rows"
ORDER: Final = Order("rates", "SG", "SG", ("rates", "timeline", "SG", "--json"), {"a.toml": "x = 1"}, (FILE,))
DOCUMENT: Final = {"scope": "SG", "tied": True, "rows": [{"name": "SG@1", "points": 12345}, {"name": "<script>"}]}


async def errand(
    open_desk: Desk, errand_id: UUID, order: Order = ORDER, *, by: str = "ann", document: Any = DOCUMENT
) -> None:
    """One that is done."""
    store, runner = open_desk.backends.errands, uuid4()
    await store.ask(errand_id, order, by)
    taken = await store.take(runner, ERRAND_TOKEN.new())
    assert taken is not None
    files = dict.fromkeys(order.keeps, b"name,points\r\n")
    await store.end(taken.errand_id, runner, Outcome(State.DONE, 0, None, json.dumps(document).encode(), files))
