"""A scenario: a story that happens to real workers, and the same audit at its end as for a fault."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.platform.kafka.publisher import StreamMessage
from abacus.programs.expiry.decide.month import Month
from localstack.running import Services
from tests.reliability.chaos.audit import Auditor
from tests.reliability.chaos.ground import Build, Lapse, ProvingGround, now, opened_ground
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.run import Outcome, Plan, send
from tests.reliability.chaos.settling import dead, settled
from tests.reliability.chaos.workload import Awarded, Fate, TakenBack, Workload, workload
from tests.support.births import Nursery

_LOOK_EVERY_S: Final = 0.5


@dataclass
class Stage:
    """The stage on which a story is played. It tells the audit its messages, the fates of bodies that the workload does
    not know, and the items that are set aside beside the stream: by origin or key, and reason.
    """

    ground: ProvingGround
    plan: Plan
    messages: Sequence[StreamMessage]
    fates: Mapping[bytes, Fate]
    sent: list[StreamMessage] = field(default_factory=list)
    aside: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def third(self, number: int) -> Sequence[StreamMessage]:
        """Messages of the workload, counted from 0."""
        return self.messages[len(self.messages) * number // 3 : len(self.messages) * (number + 1) // 3]

    async def send(self, messages: Sequence[StreamMessage], over_s: float = 0.0) -> None:
        self.sent += messages
        await send(self.ground, Workload(messages, {}), over_s)

    def hold(self, what: str, *, if_: bool) -> None:
        """Note a fault unless the condition holds."""
        if not if_:
            self.faults.append(f"does not hold: {what}")

    async def until(self, what: str, condition: Callable[[], Awaitable[bool]], within_s: float) -> None:
        """Wait for the condition; it is a fault if it never holds."""
        deadline = time.monotonic() + within_s
        while not await condition():
            if time.monotonic() > deadline:
                self.faults.append(f"not within {within_s:.0f} s: {what}")
                return
            await asyncio.sleep(_LOOK_EVERY_S)

    async def posted(self) -> int:
        return int(await self.ground.pool.fetchval("select count(*) from claim"))

    async def rests(self, within_s: float | None = None) -> None:
        """Returns when nothing is on its way."""
        within_s = within_s or self.plan.rest_within_s
        left = await settled(self.ground, within_s)
        if any(left):
            self.faults.append(f"after {within_s:.0f} s there is left: {left}")


class Scenario(NamedTuple):
    """`how` completes "a scenario: …" in the list and in the table. Its workload has `most` messages at most."""

    name: str
    how: str
    play: Callable[[Stage, Random], Awaitable[None]]
    most: int
    needs: frozenset[Need] = frozenset()


def _in_order(planned: Workload) -> Iterator[StreamMessage]:
    """Without refunds that go ahead of their transaction: they would wait, longer each time, for another part of it."""
    told: set[str] = set()
    for message in planned.messages:
        fate = planned.fates[message.value]
        if isinstance(fate, Awarded):
            told.add(fate.key)
        if not isinstance(fate, TakenBack) or fate.of in told:
            yield message


async def play(scenario: Scenario, plan: Plan, services: Services, nursery: Nursery) -> Outcome:
    begun = time.monotonic()
    plan = replace(plan, messages=min(plan.messages, scenario.most))
    start = now() - timedelta(minutes=1)
    month = Month.of((start + timedelta(days=1)).date())
    planned = workload(plan.seed, plan.messages, start, month)
    build = Build(scenario.name, plan.seed, Lapse.of(month), scenario.needs, plan.late_after_s)
    async with opened_ground(services, nursery, build) as ground:
        stage = Stage(ground, plan, list(_in_order(planned)), planned.fates)
        try:
            await scenario.play(stage, Random(f"{plan.seed} {scenario.name}"))
        except Unavailable as error:
            stage.faults.append(str(error))
        await stage.rests()
        if letters := await dead(ground):
            stage.faults.append(f"{letters} dead letters")
        sent = Workload(stage.sent, stage.fates)
        audit = await Auditor(ground, sent, start, beside=stage.aside).audit()
        crew = ground.crew
    return Outcome(
        scenario.name,
        stage.seen,
        audit.messages,
        audit.posted,
        audit.points,
        audit.told_again,
        time.monotonic() - begun,
        [*stage.faults, *audit.faults, *crew.deaths],
    )
