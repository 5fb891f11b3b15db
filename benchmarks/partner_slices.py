"""Awards of partners with budgets, posted to one ledger and to one that is cut into slices, in turns of one run: while
there is plenty left, and while the last of each budget is given out.

Where `ABACUS_BENCH_CITUS_URL` names a database with Citus, slices on its servers are measured as well.
"""

import asyncio
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.decide.allowance import partners_of
from abacus.ledger.store.partner_awards import register_missing
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.port import Status
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from tests.support.awards import award
from tests.support.cluster import Servers

SLICES: Final = 8
PARTNERS: Final = 10
MEMBERS: Final = 60_000
BATCH: Final = 400  # as many awards as ten messages hold
AWARDS: Final = 8_000  # a round
HANDS: Final = 2 * SLICES
WARM_UP: Final = 2
ROUNDS: Final = 8
POINTS: Final = 10
PLENTY: Final = Limits(per_member_day=10**6, per_day=10**12, in_total=10**12)
LAST: Final = Limits(in_total=POINTS * AWARDS // PARTNERS // 2)  # half of what a round asks for


@dataclass(slots=True)
class Ledger:
    """A ledger, and the seconds of its rounds."""

    name: str
    pool: Pool
    posting: PostgresLedger
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def took(self, what: str, awards: Sequence[Award]) -> None:
        batches = iter([awards[first : first + BATCH] for first in range(0, len(awards), BATCH)])
        statuses: list[Status] = []

        async def hand() -> None:
            for batch in batches:
                statuses.extend(each.status for each in await self.posting.post(batch))

        async with self.pool.acquire() as connection:  # as the API has entered them
            await register_missing(connection, partners_of(awards), SystemClock().now())
        began = time.perf_counter()
        await asyncio.gather(*(hand() for _ in range(HANDS)))
        self.seconds[what].append(time.perf_counter() - began)
        if statuses.count(Status.POSTED) != (len(awards) if what == "plenty" else len(awards) // 2):
            raise RuntimeError(f"{self.name}: {Counter(statuses)}")


async def measure(directory: Path) -> list[Figure]:
    citus = os.environ.get("ABACUS_BENCH_CITUS_URL")
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        alone = await Servers.of(embedded.database_url or "")
        ledgers = [await _ledger(stack, alone, "one ledger", 1)]
        ledgers.append(await _ledger(stack, alone, f"{SLICES} slices", SLICES))
        if citus:
            ledgers.append(await _ledger(stack, await Servers.of(citus), f"{SLICES} slices on Citus", SLICES))
        rng = random.Random(1)
        look_for_garbage_seldom()
        for number in range(WARM_UP + ROUNDS):
            plenty, last = _awards(rng, "plenty", number), _awards(rng, f"last{number}", number)
            for ledger in ledgers if number % 2 else reversed(ledgers):
                await _register(ledger.pool, f"last{number}", LAST)
                await ledger.took("plenty", plenty)
                await ledger.took("last", last)
    return _figures(ledgers)


def _figures(ledgers: Sequence[Ledger]) -> list[Figure]:
    figures: list[Figure] = []
    for what, named in (("plenty", "with plenty left"), ("last", "while the last of them is given out")):
        whole = ledgers[0].seconds[what][WARM_UP:]
        for ledger in ledgers:
            seconds = ledger.seconds[what][WARM_UP:]
            ratio = "" if ledger is ledgers[0] else f"{ratio_of(whole, seconds)} times the time of one ledger"
            title = (
                f"awards of {PARTNERS} partners with budgets, {named}" if ledger is ledgers[0] else f"… {ledger.name}"
            )
            figures.append(Figure(title, rate(AWARDS * len(seconds) / sum(seconds), "awards"), ratio, anywhere=True))
    return figures


async def _ledger(stack: AsyncExitStack, servers: Servers, name: str, slices: int) -> Ledger:
    url = await sliced_database(stack, servers, f"abacus_partners_{slices}", slices)
    pool = await open_pool(url, size=HANDS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    stack.push_async_callback(pool.close)
    await _register(pool, "plenty", PLENTY)
    return Ledger(name, pool, PostgresLedger(pool, SystemClock()))


async def _register(pool: Pool, name: str, limits: Limits) -> None:
    clock = SystemClock()
    for number in range(PARTNERS):
        id_ = f"{name}-{number}"
        partner = Partner(id_, id_, True, True, (), None, 1000, None, clock.now(), "bench", None)  # noqa: FBT003  # as stored
        await PartnerStore(pool, clock).create(partner, limits, LIVE_KEY.new())


def _awards(rng: random.Random, name: str, number: int) -> list[Award]:
    return [
        award(
            key=f"api:{name}-{place % PARTNERS}:{number}:{place}",
            member_id=f"m{rng.randrange(MEMBERS):06}",
            points=POINTS,
            activity=False,
        )
        for place in range(AWARDS)
    ]
