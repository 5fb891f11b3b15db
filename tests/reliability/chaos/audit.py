"""The audit after a run: ledger, quarantine and points topic hold all that the workload says, and nothing else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from abacus.platform.kafka.window import Stamped, TopicWindow
from abacus.platform.quarantine.types import Stage
from abacus.programs.expiry.decide.month import Month
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.types import Grain
from abacus.signals.events.wiring import built_in_sources
from tests.reliability.chaos.campaign_rows import told_of_campaigns
from tests.reliability.chaos.campaigned import Campaigned
from tests.reliability.chaos.campaigns_judged import faults_of_campaigns
from tests.reliability.chaos.counted import Arrival, faults_of_counts, plain_count
from tests.reliability.chaos.expected import expected_of
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.judge import Held, Posted, faults_of_postings, faults_of_quarantine, few
from tests.reliability.chaos.order import Telling
from tests.reliability.chaos.travel_rows import left_of_travels
from tests.reliability.chaos.travelled import member
from tests.reliability.chaos.travels_judged import faults_of_travels
from tests.reliability.chaos.workload import Workload

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_POSTED: Final = """
select c.key, c.fingerprint, t.member_id, t.program, t.points, t.kind,
    (t.explanation->>'due')::bigint as due, (t.explanation->>'expired')::bigint as expired
from claim c join transfer t using (member_id, program, seq)
where split_part(c.key, ':', 1) not in ('campaign', 'journey', 'redemption', 'exchange', 'api')
"""
_HELD: Final = "select stage, origin, reason, key, fingerprint from quarantine where status = 'held'"
_TOLD: Final = "select member_id, program, last_seq from account where last_seq > 0"
_SUMS: Final = "select key, sum(count) from counter_row where slot >= $1 and slot < $2 group by key"
_TALLIED_ASIDE: Final = "select coalesce(sum(set_aside), 0) from counter_tally"
# An account that is good for longer was active in time.
_EXPIRED_THOUGH_ACTIVE: Final = """
select t.member_id, t.program, t.seq from transfer t
join transfer b on b.member_id = t.member_id and b.program = t.program and b.seq = t.seq - 1
where t.kind = 'expire' and b.expires_on > $1
"""


class Audit(NamedTuple):
    """The faults of a run, and its counts."""

    faults: list[str]
    messages: int
    posted: int
    points: int
    told_again: int


@dataclass(frozen=True)
class Auditor:
    """The audit of one ground, whose transfers were posted since `start`; `lapsed` is the month that ended
    meanwhile, if any. `beside` counts items that have to be set aside and were never in the topic: by key or origin,
    and reason.
    """

    ground: ProvingGround
    workload: Workload
    start: datetime
    lapsed: Month | None = None
    beside: Counter[str] = field(default_factory=Counter)
    campaigned: Campaigned | None = None
    visitors: int = 0  # of the journey of the run

    async def audit(self) -> Audit:
        commands = asyncio.gather(self._reconciled(), self._verified())
        arrivals = await self._arrivals()
        expected = expected_of([(self._origin(each), each.body) for each in arrivals], self.workload.fates)
        posted = [Posted(*row) for row in await self.ground.pool.fetch(_POSTED)]
        held = [Held(*row) for row in await self.ground.pool.fetch(_HELD)]
        told, again = await self._told()
        faults = [
            *faults_of_postings(expected, posted, may_expire=self.lapsed is not None),
            *faults_of_quarantine(expected, posted, held, self.beside),
            *await self._expired(),
            *told,
            *await self._counted(arrivals, sum(item.stage == Stage.EVENT for item in held)),
            *await self._campaigned(),
            *(fault for report in await commands for fault in report),
        ]
        return Audit(faults, len(arrivals), len(posted), sum(each.points for each in posted), again)

    async def _arrivals(self) -> list[Arrival]:
        topic = self.ground.settings.transactions_topic
        arrivals = [Arrival(each.partition, each.offset, each.value) async for each in self._messages(topic)]
        if lost := {message.value for message in self.workload.messages} - {each.body for each in arrivals}:
            raise AssertionError(f"the sender of the run lost {len(lost)} messages")
        return arrivals

    def _origin(self, arrival: Arrival) -> str:
        return f"kafka:{self.ground.settings.transactions_topic}/{arrival.partition}/{arrival.offset}"

    async def _counted(self, arrivals: Sequence[Arrival], held_aside: int) -> list[str]:
        """The counters' days against a plain count of the topic, and what the writers say of themselves."""
        [source] = [each for each in built_in_sources(self.ground.settings) if each.name == "transactions"]
        expected = plain_count(arrivals, source, datetime.now(UTC))
        days = slot_of(Grain.DAY, 0), slot_of(Grain.REPEATS, 0)
        sums = {key.partition(":")[2]: int(units) for key, units in await self.ground.pool.fetch(_SUMS, *days) if units}
        aside = int(await self.ground.pool.fetchval(_TALLIED_ASIDE))
        code, told = await self.ground.command("counters", "reconcile")
        comes_out = [] if code == 0 and told["comes_out"] else [f"counters reconcile ends with {code}: {told}"]
        return [*faults_of_counts(expected, sums, aside, held_aside), *comes_out]

    async def _campaigned(self) -> list[str]:
        if self.campaigned is None:
            return []
        published = [each async for each in self._messages(self.ground.settings.events_topic)]
        told = await told_of_campaigns(self.ground.pool, [each.value for each in published])
        left = await left_of_travels(self.ground.pool, published)
        visitors = [member(number) for number in range(self.visitors)]
        return [*faults_of_campaigns(self.campaigned, told), *faults_of_travels(visitors, left)]

    async def _expired(self) -> list[str]:
        if self.lapsed is None:
            return []
        rows = await self.ground.pool.fetch(_EXPIRED_THOUGH_ACTIVE, self.lapsed.last_day)
        return [*few("expired though active", [f"{row[0]}, {row[1]}, {row[2]}" for row in rows])]

    async def _told(self) -> tuple[list[str], int]:
        telling = Telling()
        async for message in self._messages(self.ground.settings.points_topic):
            data: dict[str, Any] = orjson.loads(message.value)["data"]
            if "seq" in data:  # seals are on the topic too
                telling.tell((data["member_id"], data["program"]), data["seq"])
        ledger = {(row[0], row[1]): row[2] for row in await self.ground.pool.fetch(_TOLD)}
        return [*few("on the points topic", telling.against(ledger))], telling.again

    async def _messages(self, topic: str) -> AsyncIterator[Stamped]:
        bootstrap = self.ground.settings.required("kafka_bootstrap")
        window = TopicWindow(bootstrap, topic, _EPOCH, datetime.now(UTC) + timedelta(days=1))
        async for batch in window.batches():
            for message in batch:
                yield message

    async def _reconciled(self) -> list[str]:
        code, told = await self.ground.command("reconcile", "--from", self.start.isoformat())
        if code == 0 and told["comes_out"] and not told["on_the_way"] and told["whole"]:
            return []
        findings = [f"{each['what']}: {each['name']} ({each['where']})" for each in told.get("findings", [])]
        return [f"reconcile ends with {code}: {told.get('verdicts', told)}", *few("reconcile", findings)]

    async def _verified(self) -> list[str]:
        code, told = await self.ground.command("ledger", "verify")
        if code == 0 and told["clean"]:
            return []
        return [f"ledger verify ends with {code}", *few("verify", told.get("faults", [told]))]
