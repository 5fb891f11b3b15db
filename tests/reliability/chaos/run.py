"""One run: a proving ground, a workload, a fault at work while it is sent; then all comes to rest and is audited."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final

from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamPublisher
from abacus.platform.patience import until_available
from abacus.platform.sqs.dead_letters import dead_letters
from abacus.programs.expiry.decide.month import Month
from localstack.running import Services
from tests.reliability.chaos.audit import Auditor
from tests.reliability.chaos.campaigned import Campaigned, orders_in
from tests.reliability.chaos.faults.fault import Fault, struck_within
from tests.reliability.chaos.ground import Build, Lapse, ProvingGround, now, opened_ground
from tests.reliability.chaos.needs import CannotBeHad, Need
from tests.reliability.chaos.settling import Left, settled
from tests.reliability.chaos.travelled import visitors_of
from tests.reliability.chaos.travelling import travelling
from tests.reliability.chaos.workload import Workload, cards, workload
from tests.support.births import Nursery

_CHUNK: Final = 50
_STRIKES_WITHIN_S: Final = 60.0


@dataclass(frozen=True)
class Plan:
    """How much is sent, over how long, and how long it may take to come to rest."""

    seed: int
    messages: int
    sent_over_s: float
    rest_within_s: float
    late_after_s: float
    overload_s: float = 60.0


@dataclass
class Outcome:
    """The outcome of a run. It held if there are no faults and the misfortune struck."""

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
    outcome = Outcome(fault.name)
    wrong_clocks = Need.WRONG_CLOCKS in fault.needs
    month = _last_over(start) if wrong_clocks else _next_to_end(start)
    # Clocks that are behind take nothing of this for the future.
    sent = workload(plan.seed, plan.messages, start - timedelta(days=2) if wrong_clocks else start, month)
    campaigned = None if wrong_clocks else Campaigned(orders_in(each.value for each in sent.messages))
    campaigns = campaigned.documents() if campaigned is not None else ()
    build = Build(fault.name, plan.seed, Lapse.of(month), fault.needs, plan.late_after_s, campaigns)
    try:
        async with opened_ground(services, nursery, build) as ground:
            visitors = visitors_of(plan.messages) if campaigned is not None else 0
            on_their_way = travelling(ground, visitors, plan.sent_over_s * fault.lasts, Random(rng.random()))
            async with on_their_way, fault.work(ground, rng) as struck:
                await send(ground, sent, plan.sent_over_s * fault.lasts)
                await struck_within(lambda: not fault.missed(struck + ground.struck), _STRIKES_WITHIN_S)
            left = await settled(ground, plan.rest_within_s)
            outcome.struck = +struck + ground.struck
            lapsed = month if wrong_clocks else None
            auditor = Auditor(ground, sent, start, lapsed, campaigned=campaigned, visitors=visitors)
            outcome.faults = await _faults_of(fault, outcome, left, ground)
            audit = await auditor.audit()
            crew = ground.crew
    except CannotBeHad as missing:
        outcome.skipped = str(missing)
        return outcome
    outcome.faults += [*audit.faults, *crew.deaths]
    outcome.messages, outcome.posted = audit.messages, audit.posted
    outcome.points, outcome.told_again = audit.points, audit.told_again
    outcome.seconds = time.monotonic() - started
    return outcome


def _next_to_end(start: datetime) -> Month:
    """It does not end within the day."""
    return Month.of((start + timedelta(days=1)).date())


def _last_over(start: datetime) -> Month:
    """The last month that is over in every country."""
    return min(Month.last_over(start, card.zone) for card in cards())


async def _faults_of(fault: Fault, outcome: Outcome, left: Left, ground: ProvingGround) -> list[str]:
    faults = [f"{missed} never struck" for missed in fault.missed(outcome.struck)]
    if any(left):
        faults.append(f"it did not come to rest; there is left: {left}")
    letters = await dead_letters(ground.client, ground.settings.queue_prefix)
    return faults + [f"{each.messages} dead letters in {each.queue}" for each in letters if each.messages]


async def send(ground: ProvingGround, sent: Workload, over_s: float) -> None:
    """Send the workload evenly over so many seconds, or as soon afterwards as the broker takes it."""
    publisher = StreamPublisher(ground.settings.required("kafka_bootstrap"))
    begun, health = time.monotonic(), WorkerHealth("sender")
    try:
        for at in range(0, len(sent.messages), _CHUNK):
            await asyncio.sleep(begun + over_s * at / len(sent.messages) - time.monotonic())
            chunk = sent.messages[at : at + _CHUNK]
            await until_available(lambda: publisher.publish(ground.settings.transactions_topic, chunk), health)  # noqa: B023  # awaited here
    finally:
        await publisher.close()
