"""Actions of several kinds of owners wait for one receiver, each with the guards of its kind."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.engage.actions.action_runner import ActionRunner, guarded_by
from abacus.engage.actions.action_store import ActionStore, Batch, plan
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import DueAction, PlannedAction, Refusals
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.platform.slices import slice_map_of
from tests.engage.limits.documents import NOW
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.slices import home_of

CLOCK: Final = FixedClock(NOW)
RECEIVER: Final = "shop"
LATER: Final = timedelta(seconds=30)


def planned(key: str, owner_kind: str, due_at: datetime = NOW) -> PlannedAction:
    return PlannedAction(
        *("bob", key, 0, owner_kind, "market", 1, 1, None),
        kind=DeedKind.PUBLISH,
        receiver=RECEIVER,
        due_at=due_at,
        document=b"{}",
        event=b"{}",
    )


class Shop:
    """A receiver, and the guards of two kinds of owners."""

    def __init__(self) -> None:
        self.got: list[str] = []

    async def hand_over(self, _: Batch, actions: Sequence[DueAction]) -> Refusals:
        self.got += [each.key for each in actions]
        paused = [each for each in actions if each.key == "paused"]
        return Refusals({each: "sold out" for each in actions if each.key == "sold out"}, paused)

    async def of_offers(self, actions: Sequence[DueAction]) -> Refusals:
        assert {each.owner_kind for each in actions} == {"offer"}
        return Refusals({each: "unless" for each in actions if each.key == "against"}, ())

    async def of_journeys(self, actions: Sequence[DueAction]) -> Refusals:
        assert {each.owner_kind for each in actions} == {"journey"}
        return Refusals({}, [each for each in actions if each.key == "unknown"])

    def stopped(self, action: DueAction) -> str | None:
        assert action.owner_kind == "journey"
        return "ended" if action.key.startswith("stopped") else None


async def all_turns(_: str, wanted: int) -> int:
    return wanted


async def test_each_action_is_guarded_by_the_guards_of_its_kind(pool: Pool) -> None:
    """An action of a kind that this process does not know waits for another process."""
    shop, actions = Shop(), ActionStore(pool, CLOCK)
    guards = guarded_by({"offer": shop.of_offers, "journey": shop.of_journeys}, {"journey": shop.stopped})
    given = [
        *(planned(key, "offer") for key in ("against", "given", "paused", "sold out")),
        *(planned(key, "journey") for key in ("unknown", "told", "stopped")),
        planned("stopped too", "journey")._replace(event=None),
        planned("stranger", "campaign"),
        planned("not yet", "offer", NOW + timedelta(seconds=1)),
    ]
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection, connection.transaction():
        await plan(connection, given, NOW)
    runner = ActionRunner(
        *(RECEIVER, shop.hand_over, actions, guards, all_turns),
        pool=pool,
        slice_map=await slice_map_of(pool),
        clock=CLOCK,
        health=WorkerHealth("worker"),
    )
    stop = asyncio.Event()
    working = asyncio.create_task(runner.run(stop))

    async def nothing_is_due() -> bool:
        return not (await actions.backlog(RECEIVER)).deliveries

    await until(nothing_is_due)
    stop.set()
    await working
    assert sorted(shop.got) == ["given", "paused", "sold out", "told"]
    rows = await pool.fetch("select key, done_at is not null, reason, due_at from action order by key")
    assert [tuple(row) for row in rows] == [
        ("against", False, "unless", NOW),
        ("given", True, None, NOW),
        ("not yet", False, None, NOW + timedelta(seconds=1)),
        ("paused", False, None, NOW + LATER),
        ("sold out", False, "sold out", NOW),
        ("stopped", False, "ended", NOW),
        ("stopped too", False, "ended", NOW),
        ("stranger", False, None, NOW + LATER),
        ("told", True, None, NOW),
        ("unknown", False, None, NOW + LATER),
    ]
