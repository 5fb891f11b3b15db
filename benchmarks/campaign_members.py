"""Events decided for a campaign that asks what the member has had of it: a batch of one member's, and of many members';
and each by itself, as it has to be where each waits for what came of the one before. In turns of one run.
"""

import itertools
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator, Candidate
from abacus.engage.campaigns.facts import ProgressFacts
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.verdicts import Verdicts
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.ledger.store.read import LedgerReader
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from tests.engage.campaigns.offers import AROUND, CARDS, MARKET, order
from tests.support.cluster import Servers
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue

EVENTS: Final = 300
MANY: Final = 300  # members
ROUNDS: Final = 9
LEAST: Final = 0.5  # of the events of many members, those of one
_NEW: Final = {"operator": "lt", "lhs": "campaign.runs", "rhs": 1_000_000}


async def measure(directory: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        servers = await Servers.of(embedded.database_url or "")
        pool = await open_pool(
            await sliced_database(stack, servers, "abacus_campaign_members", 1),
            size=4,
            settings=LOOKUPS_BY_KEY,
            keeps_nothing=True,
        )
        stack.push_async_callback(pool.close)
        verdicts, numbers = _verdicts(pool), itertools.count()
        look_for_garbage_seldom()
        seconds: dict[str, list[float]] = defaultdict(list)
        for _ in range(ROUNDS + 1):
            one, many, singly = (_candidates(numbers, members) for members in (1, MANY, 1))
            for name, batches in (("one", [one]), ("many", [many]), ("singly", [[each] for each in singly])):
                began = time.perf_counter()
                for batch in batches:
                    await verdicts.reach([each.event for each in batch], batch)
                seconds[name].append(time.perf_counter() - began)
    return _figures({name: taken[1:] for name, taken in seconds.items()})


def _figures(seconds: dict[str, list[float]]) -> list[Figure]:
    def per_s(name: str) -> float:
        return EVENTS * len(seconds[name]) / sum(seconds[name])

    one, many = per_s("one"), per_s("many")
    return [
        Figure(
            f"events decided for a campaign that asks `campaign.runs`, {EVENTS} of one member in a batch",
            rate(one, "events"),
            f"each by itself takes {ratio_of(seconds['one'], seconds['singly'])} times the time",
        ),
        Figure(
            f"… of {MANY} members in a batch",
            rate(many, "events"),
            f"those of one member take {ratio_of(seconds['many'], seconds['one'])} times the time",
            f"of one member >= {LEAST} of that",
            one >= LEAST * many,
            anywhere=True,
        ),
    ]


def _verdicts(pool: Pool) -> Verdicts:
    clock = SystemClock()
    quarantine = MemoryQuarantine(clock)
    members = MemberFacts(pool, MembershipStore(pool, clock).tiers_of, LedgerReader(pool).standings_of)
    retry_queue = RetryQueue(
        MemoryQueue("retries"), quarantine, RetryPolicy(), events_topic="events", clock=clock, rng=random.Random(1)
    )
    return Verdicts(
        CampaignEvaluator(FactRegistry(ProgressFacts(pool)), members),
        Effects(pool, clock, slot=1),
        retry_queue,
        quarantine,
        pool,
    )


def _candidates(numbers: "itertools.count[int]", members: int) -> Sequence[Candidate]:
    armed, _ = compiled(parse_campaign({**MARKET, "when": _NEW}, AROUND).numbered(1), AROUND)
    return [
        Candidate(f"kafka:t/0/{number}", b"{}", order(number, f"m{number % members}"), armed, CARDS["SG"])
        for number in itertools.islice(numbers, EVENTS)
    ]
