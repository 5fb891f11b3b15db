"""The house in which the story happens: its doors, its people, and how to wait until it has settled."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from abacus.cli.demo.story.clock import WalkingClock
from abacus.cli.demo.story.drain import Traffic, Work, is_read, work_of
from abacus.cli.terminal.command_actor import CommandActor
from abacus.core.errors import Refused, Unavailable
from abacus.ledger.store.large_moves import LargeMoves
from abacus.people.types.person import Actor
from abacus.platform.kafka.groups import Lags
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings

_SEED: Final = 2026
_STALLED_S: Final = 180.0  # on a machine that does much else a month takes its time
_SURE_AFTER_S: Final = 0.1  # what was decided a moment ago is due by then


@dataclass(slots=True)
class House:
    """What chapters work with. `people` are there from the first chapter on. `keys` are keys of partners."""

    settings: Settings
    pool: Pool
    clock: WalkingClock
    publisher: StreamPublisher
    lags: Lags
    moves: LargeMoves
    today: date  # on which the story ends
    rng: random.Random = field(default_factory=lambda: random.Random(_SEED))
    people: dict[str, Actor] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    traffic: Traffic = field(default_factory=Traffic)
    workers: "asyncio.Task[None] | None" = None  # they start when the first chapters have begun

    def at(self, person_id: str) -> CommandActor:
        """The person, as it stands before a desk."""
        return CommandActor(self.people[person_id], people_required=True, pool=self.pool, clock=self.clock)

    async def approve(self, approval_id: object, by: str) -> None:
        """A second person looks at it, and approves it."""
        approvals = self.moves.approvals
        approval = next(each for each in await approvals.all() if each.approval_id == approval_id)
        await approvals.approve(approval.approval_id, self.people[by], approval.digest)

    async def send(self, topic: str, messages: Sequence[tuple[bytes, bytes]]) -> None:
        """Sends messages, keys and values, stamped with the time of the story."""
        stamp_ms = int(self.clock.now().timestamp() * 1000)
        await self.publisher.publish(topic, [StreamMessage(*each, stamp_ms=stamp_ms) for each in messages])

    async def send_transactions(self, messages: Sequence[tuple[bytes, bytes]]) -> None:
        """Returns when each of them is posted, suppressed or set aside."""
        await self.send(self.settings.transactions_topic, messages)
        self.traffic.sent += len(messages)
        await self.until_done(self.traffic.has_come_in, "the pipeline")

    async def settle(self) -> None:
        """Returns when nobody in the house has anything left to do at this moment."""
        seen: Work | None = None

        async def is_quiet() -> bool:
            nonlocal seen
            before, seen = seen, await work_of(self.pool, self.clock.now())
            if seen.due or not self.traffic.is_told(seen):
                return False
            if seen != before:
                await asyncio.sleep(_SURE_AFTER_S)
                return False
            return await is_read(self.lags, self.settings)

        await self.until_done(is_quiet, "the house")

    async def until_done(self, condition: Callable[[], Awaitable[bool]], whose: str) -> None:
        began = time.monotonic()
        while not await condition():
            if self.workers is not None and self.workers.done():
                await self.workers
                raise Refused("the workers stopped before the end")
            if time.monotonic() - began > _STALLED_S:
                raise Unavailable(whose, f"not done after {_STALLED_S:.0f} s")
            await asyncio.sleep(0.01)
