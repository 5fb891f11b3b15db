"""One run: a house, a workload, a fault at work while it is sent; then everything comes to rest and is audited."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final

from abacus.expiry.month import Month
from abacus.health import WorkerHealth
from abacus.patience import until_available
from abacus.streams.publisher import StreamPublisher
from tests.chaos.audit import Audit, Auditor
from tests.chaos.births import Nursery
from tests.chaos.faults.fault import Fault
from tests.chaos.house import House, now, opened_house
from tests.chaos.services import Services
from tests.chaos.settling import dead, settled
from tests.chaos.workload import Workload, workload

_CHUNK: Final = 250
_STRIKES_WITHIN_S: Final = 60.0


@dataclass(frozen=True)
class Plan:
    """How much is sent, over how long, and how long it may take to come to rest."""

    seed: int
    messages: int
    sent_over_s: float
    rest_within_s: float


@dataclass
class Outcome:
    """What became of a run. It held if nothing is at fault and the fault struck."""

    fault: str
    struck: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    posted: int = 0
    points: int = 0
    told_again: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    skipped: str = ""

    @property
    def held(self) -> bool:
        return not self.faults


async def run(fault: Fault, plan: Plan, services: Services, nursery: Nursery) -> Outcome:
    started = time.monotonic()
    rng = Random(f"{plan.seed} {fault.name}")
    start = now() - timedelta(minutes=1)
    sent = workload(plan.seed, plan.messages, start, Month.of((start + timedelta(days=1)).date()))
    outcome = Outcome(fault.name)
    async with opened_house(services, nursery, fault.name) as house:
        async with fault.work(house, rng) as struck:
            await send(house, sent, plan.sent_over_s)
            await _has_struck(struck)
        outcome.struck = +struck
        if not outcome.struck:
            outcome.faults.append("it never struck")
        left = await settled(house, plan.rest_within_s)
        if any(left):
            outcome.faults.append(f"after {plan.rest_within_s:.0f} s there is left: {left}")
        if letters := await dead(house):
            outcome.faults.append(f"{letters} dead letters")
        audit = await Auditor(house, sent, start).audit()
        crew = house.crew
    outcome.faults += [*audit.faults, *crew.deaths]
    _count(outcome, audit)
    outcome.seconds = time.monotonic() - started
    return outcome


async def send(house: House, sent: Workload, over_s: float) -> None:
    """Evenly over so many seconds, or as soon after as the broker takes it."""
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    begun, health = time.monotonic(), WorkerHealth("sender")
    try:
        for at in range(0, len(sent.messages), _CHUNK):
            await asyncio.sleep(begun + over_s * at / len(sent.messages) - time.monotonic())
            chunk = sent.messages[at : at + _CHUNK]
            await until_available(lambda: publisher.publish(house.settings.transactions_topic, chunk), health)  # noqa: B023  # awaited here
    finally:
        await publisher.close()


async def _has_struck(struck: Counter[str]) -> None:
    """Some strike seldom; they get a while longer. What counts only at the end does not wait for it."""
    deadline = time.monotonic() + _STRIKES_WITHIN_S
    while not struck and time.monotonic() < deadline:  # noqa: ASYNC110  # it is counted up elsewhere
        await asyncio.sleep(0.2)


def _count(outcome: Outcome, audit: Audit) -> None:
    outcome.messages, outcome.posted = audit.messages, audit.posted
    outcome.points, outcome.told_again = audit.points, audit.told_again
