"""Events decided for campaigns, and what follows from them done: in one ledger, and in one that is cut into slices, in
turns of one run. The time of what is handed over is left out.
"""

import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.actions.types import AWARDS
from abacus.engage.campaigns.decide.run import Matched
from abacus.engage.campaigns.effects import Effects
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool, open_pool
from abacus.platform.slices import Slice, slices_of
from abacus.process import look_for_garbage_seldom
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from tests.engage.campaigns.offers import campaign, matched, order
from tests.support.cluster import Servers

SLICES: Final = 8
BATCH: Final = 2_000  # as many events as a campaigner decides together
MEMBERS: Final = 60_000
WARM_UP: Final = 3
ROUNDS: Final = 12
TAKEN: Final = 1_000  # as many actions as a campaigner takes together
WANTED: Final = 5_000

_OFFERS: Final = [
    campaign(name=f"offer_{number}", limits={"runs": {"overall": 1_000_000, "member": 1_000}}) for number in range(100)
]


@dataclass(slots=True)
class Ledger:
    """A ledger, what works on it, and the seconds that each kind of work took."""

    slices: Sequence[Slice]
    effects: Effects
    actions: ActionStore
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def took(self, what: str, doing: Awaitable[object]) -> None:
        began = time.perf_counter()
        await doing
        self.seconds[what].append(time.perf_counter() - began)

    async def do_all(self) -> None:
        """Take and end all actions that are due, slice after slice."""
        for each in self.slices:
            while await self._some_done(each):
                pass

    async def _some_done(self, slice_: Slice) -> int:
        async with self.actions.taken(slice_, AWARDS, TAKEN) as batch:
            if batch.actions:
                await self.actions.end(batch, batch.actions, {})
        return len(batch.actions)


async def measure(directory: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        servers = await Servers.of(embedded.database_url or "")
        ledgers = [await _ledger(stack, servers, slices) for slices in (1, SLICES)]
        rng = random.Random(1)
        batches = [_batch(rng, number) for number in range(WARM_UP + ROUNDS)]
        look_for_garbage_seldom()
        for batch in batches[:WARM_UP]:
            for ledger in ledgers:
                await ledger.effects.decide(batch)
                await ledger.do_all()
        for number, batch in enumerate(batches[WARM_UP:]):
            for ledger in ledgers if number % 2 else reversed(ledgers):
                await ledger.took("decided", ledger.effects.decide(batch))
                await ledger.took("done", ledger.do_all())
                await ledger.took("again", ledger.effects.decide(batch))
    return _figures(ledgers[0].seconds, ledgers[1].seconds)


def _figures(whole: Mapping[str, Sequence[float]], cut_up: Mapping[str, Sequence[float]]) -> list[Figure]:
    def per_second(what: str) -> float:
        return BATCH * len(whole[what]) / sum(whole[what])

    def in_slices(what: str) -> str:
        return f"in {SLICES} slices {ratio_of(whole[what], cut_up[what])} times the time"

    deciding = per_second("decided")
    return [
        Figure(
            f"events decided for one of {len(_OFFERS)} campaigns with limits, batches of {BATCH:,}",
            rate(deciding, "events"),
            in_slices("decided"),
            f">= {WANTED:,}/s",
            deciding >= WANTED,
        ),
        Figure("… events that were decided before", rate(per_second("again"), "events"), in_slices("again")),
        Figure(f"actions taken by {TAKEN:,} and ended", rate(per_second("done"), "actions"), in_slices("done")),
    ]


async def _ledger(stack: AsyncExitStack, servers: Servers, slices: int) -> Ledger:
    url = await sliced_database(stack, servers, f"abacus_campaigns_{slices}", slices)
    pool: Pool = await open_pool(
        url, size=SLICES, settings=LOOKUPS_BY_VALUES if slices > 1 else LOOKUPS_BY_KEY, keeps_nothing=True
    )
    stack.push_async_callback(pool.close)
    clock = SystemClock()
    return Ledger(await slices_of(pool), Effects(pool, clock, slot=1), ActionStore(pool, clock))


def _batch(rng: random.Random, number: int) -> list[Matched]:
    return [
        matched(rng.choice(_OFFERS), order(number * BATCH + place, f"m{rng.randrange(MEMBERS):06}"))
        for place in range(BATCH)
    ]
