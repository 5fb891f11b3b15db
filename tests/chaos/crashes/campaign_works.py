"""The work of the campaigner: events that campaigns answer to, and what they have decided."""

from typing import Any, ClassVar

import orjson

from abacus.core.errors import Reason
from abacus.engage.events.decide.source import parse_source
from abacus.engage.events.store import SourceStore
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.window import lag
from tests.chaos.crashes.work import Work
from tests.support.running_campaigns import just_now, run_campaign

_OPEN = "done_at is null and refused_at is null"


class Offers(Work):
    """Points within a limit that ends, points and a message and an event that come later, and events that come twice.

    A member's events are in one partition, so it is known which of them the limit refuses.
    """

    worker: ClassVar = "campaigner"
    name: ClassVar = "offers"

    async def lay_out(self) -> None:
        self._source = f"trial-{self.mark}"
        self._few, self._later = f"few_{self.mark}", f"later_{self.mark}"
        await self._publish_source()
        ann, bob = f"{self.mark}-ann", f"{self.mark}-bob"
        await self._run(
            self._few,
            when={"operator": "eq", "lhs": "var.who", "rhs": "ann"},
            steps=[{"do": [{"award": {"points": 5}}]}],
            limits={"runs": {"overall": 2, "member": 9}},
        )
        never = {"operator": "gte", "lhs": "campaign.count", "rhs": 100}
        await self._run(
            self._later,
            when={"operator": "eq", "lhs": "member.tier", "rhs": "member"},
            limits={"runs": {"overall": 1000}},
            steps=[
                {
                    "at": 1,
                    "do": [
                        {"award": {"points": 7}, "after": "1s", "unless": never},
                        {"tell": {"en": "Thanks\nThat was ride {{count}}."}},
                        {"publish": {"type": f"{self._source}/echoed", "var": {"who": "var.who"}}},
                    ],
                }
            ],
        )
        garbage = f"{{garbage {self.mark}".encode()
        events = [self._event(ann, number) for number in (1, 2, 3)] + [self._event(bob, 4)]
        await self.lane.tell([*events, events[0], StreamMessage(ann.encode(), garbage), events[3]])
        self.is_bad(Reason.UNDECODABLE, garbage)
        for number in (1, 2):
            self.due.post(ann, self._key(self._few, number), 5)
        self.due.post(ann, self._key(self._later, 1), 7)
        self.due.post(bob, self._key(self._later, 4), 7)

    async def is_done(self) -> bool:
        return await self.is_settled()

    async def is_settled(self) -> bool:
        """Every event is decided, and whatever follows is done."""
        topic, settings = self.lane.settings.events_topic, self.lane.settings
        group = f"{settings.queue_prefix}campaigner-{topic}"
        waiting = await self.lane.pool.fetchval(f"select count(*) from campaign_action where {_OPEN}")
        return (
            waiting == 0
            and await self._count("campaign_claim") == 7
            and not await lag(settings.required("kafka_bootstrap"), topic, group)
        )

    async def more_faults(self) -> list[str]:
        """Faults unless each event has one outcome in each campaign, and each action is done once."""
        names = [self._few, self._later]
        sums = await self.lane.pool.fetch(
            "select campaign, outcome, sum(events)::int, sum(points)::int from campaign_sum"
            " where campaign = any($1) group by 1, 2 order by 1, 2",
            names,
        )
        due = [
            (self._few, "done", 2, 10),
            (self._few, "refused:overall.runs", 1, 0),
            (self._later, "counted", 2, 0),
            (self._later, "done", 2, 14),
        ]
        faults = [] if (found := list(map(tuple, sums))) == due else [f"outcomes: {found}"]
        done = await self.lane.pool.fetchval(
            "select count(*) from campaign_action where campaign = any($1) and done_at is not null", names
        )
        told = await self.lane.pool.fetchval("select count(*) from notice where starts_with(member_id, $1)", self.mark)
        return faults + ([] if (done, told) == (8, 2) else [f"{done} actions done, {told} messages"])

    async def _count(self, table: str) -> int:
        names = [self._few, self._later]
        return int(await self.lane.pool.fetchval(f"select count(*) from {table} where campaign = any($1)", names))

    async def _publish_source(self) -> None:
        types = {"done": {"who": "text"}, "echoed": {"who": "text"}}
        source = parse_source({"source": self._source, "senders": ["trials"], "types": types})
        await SourceStore(self.lane.pool).publish(
            source, built_in=(), events_topic=self.lane.settings.events_topic, by="crashes", now=self.lane.clock.now()
        )

    async def _run(self, name: str, **fields: Any) -> None:
        await run_campaign(self.lane, name=name, on=[f"{self._source}/done"], **fields)

    def _event(self, member_id: str, number: int) -> StreamMessage:
        event = {
            "source": self._source,
            "type": "done",
            "id": str(number),
            "member_id": member_id,
            "country": "SG",
            "occurred_at": just_now(),
            "var": {"who": member_id.removeprefix(f"{self.mark}-")},
        }
        return StreamMessage(member_id.encode(), orjson.dumps(event))

    def _key(self, campaign: str, number: int) -> str:
        return f"campaign:{campaign}:{self._source}:done:{number}:1"
