"""After a run: whether ledger, quarantine and points topic hold what the workload says, and nothing else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.errors import Reason
from abacus.expiry.month import Month
from abacus.ledger.award import Kind
from abacus.quarantine.item import Stage
from abacus.streams.window import Stamped, TopicWindow
from tests.chaos.expected import Expected, expected_of, taken_back
from tests.chaos.house import House
from tests.chaos.order import Telling
from tests.chaos.workload import Workload

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAMED: Final = 5  # of faults of one kind
_CLAIMS: Final = """
select c.key, c.fingerprint, t.member_id, t.program, t.points, t.kind, t.explanation::text as explanation
from claim c join transfer t using (member_id, program, seq)
"""
_HELD: Final = "select stage, origin, reason, key, fingerprint from quarantine where status = 'held'"
# An account that is good for longer was active in time.
_EXPIRED_THOUGH_ACTIVE: Final = """
select t.member_id, t.program, t.seq from transfer t
join transfer b on b.member_id = t.member_id and b.program = t.program and b.seq = t.seq - 1
where t.kind = 'expire' and b.expires_on > $1
"""


class Audit(NamedTuple):
    """What did not hold, and what was counted."""

    faults: list[str]
    messages: int
    posted: int
    points: int
    told_again: int


@dataclass(frozen=True)
class Auditor:
    """Of one house, whose transfers were posted since `start`; `lapsed` is the month whose end was passed, if any.
    `beside` is what has to be set aside that was never in the topic: by key or origin, and reason.
    """

    house: House
    workload: Workload
    start: datetime
    lapsed: Month | None = None
    beside: Counter[str] = field(default_factory=Counter)

    async def audit(self) -> Audit:
        commands = asyncio.gather(self._reconcile(), self._verify())
        expected, messages = await self._expected()
        found, points = await self._posted(expected)
        found += await self._held(expected)
        told, again = await self._told()
        for faults in await commands:
            found += faults
        posted = len(expected.awards) + len(expected.refunds)
        return Audit([*found, *told], messages, posted, points, again)

    async def _expected(self) -> tuple[Expected, int]:
        topic, bodies = self.house.settings.transactions_topic, set[bytes]()
        found: list[tuple[str, bytes]] = []
        async for message in self._messages(topic):
            bodies.add(message.value)
            found.append((f"kafka:{topic}/{message.partition}/{message.offset}", message.value))
        expected = expected_of(found, self.workload.fates)
        if unsent := {message.value for message in self.workload.messages} - bodies:
            raise AssertionError(f"the sender of the run lost {len(unsent)} messages")
        return expected, len(found)

    async def _posted(self, expected: Expected) -> tuple[list[str], int]:
        faults: list[str] = [*few("in the topic, but never sent", expected.unknown)]
        points: dict[str, int] = {}
        due: dict[str, int] = {}
        wrong: list[str] = []
        unexpected: list[str] = []
        for row in await self.house.pool.fetch(_CLAIMS):
            key, explanation = row["key"], orjson.loads(row["explanation"])
            award = expected.awards.get(key, {}).get(row["fingerprint"])
            refund = expected.refunds.get(key)
            if award is not None:
                points[key] = row["points"]
                if tuple(award) != (key, row["fingerprint"], row["member_id"], row["program"], row["points"]):
                    wrong.append(f"{key}: {row['points']} points, not {award.points}")
            elif refund is not None and refund.fingerprint == row["fingerprint"]:
                points[key] = row["points"]
                due[refund.of] = due.get(refund.of, 0) + explanation["due"]
                if row["points"] != explanation["expired"] - explanation["due"]:
                    wrong.append(f"{key}: {row['points']} points of {explanation['due']} due")
            elif row["kind"] != Kind.EXPIRE or self.lapsed is None:
                unexpected.append(key)
        missing = (expected.awards.keys() | expected.refunds.keys()) - points.keys()
        by_refunds = taken_back(expected.refunds.values(), points) if not missing else {}
        wrong += [f"refunds of {of} took {due[of]}, not {all_}" for of, all_ in by_refunds.items() if due[of] != all_]
        faults += few("not posted", missing)
        faults += few("posted wrongly", wrong)
        faults += few("posted, but never sent", unexpected)
        if self.lapsed is not None:
            rows = await self.house.pool.fetch(_EXPIRED_THOUGH_ACTIVE, self.lapsed.last_day)
            faults += few("expired though active", [f"{row[0]}, {row[1]}, {row[2]}" for row in rows])
        return faults, sum(points.values())

    async def _held(self, expected: Expected) -> list[str]:
        aside: dict[str, str] = {}
        contradicting: set[tuple[str, str]] = set()
        other: Counter[str] = Counter()
        for row in await self.house.pool.fetch(_HELD):
            if row["stage"] == Stage.TRANSACTION:
                aside[row["origin"]] = row["reason"]
            elif row["reason"] == Reason.KEY_CONFLICT:
                contradicting.add((row["key"], row["fingerprint"]))
            else:
                other[f"{row['key'] or row['origin']}: {row['reason']}"] += 1
        posted = {(row["key"], row["fingerprint"]) for row in await self.house.pool.fetch(_CLAIMS)}
        return [
            *few("not set aside", expected.aside.keys() - aside.keys()),
            *few("set aside for nothing", aside.keys() - expected.aside.keys()),
            *few(
                "set aside otherwise", [each for each in aside if aside[each] != expected.aside.get(each, aside[each])]
            ),
            *few("contradicts, and not set aside", expected.conflicts - posted - contradicting),
            *few("set aside as if it contradicted", contradicting - (expected.conflicts - posted)),
            *few("set aside, of awards", (other - self.beside).elements()),
            *few("not set aside, of awards", (self.beside - other).elements()),
        ]

    async def _told(self) -> tuple[list[str], int]:
        telling = Telling()
        async for message in self._messages(self.house.settings.points_topic):
            event: dict[str, Any] = orjson.loads(message.value)
            if "seq" in event["data"]:  # seals are on the topic too
                telling.tell((event["data"]["member_id"], event["data"]["program"]), event["data"]["seq"])
        rows = await self.house.pool.fetch("select member_id, program, last_seq from account where last_seq > 0")
        ledger = {(row["member_id"], row["program"]): row["last_seq"] for row in rows}
        return [*few("on the points topic", telling.against(ledger))], telling.again

    async def _messages(self, topic: str) -> AsyncIterator[Stamped]:
        bootstrap = self.house.settings.required("kafka_bootstrap")
        window = TopicWindow(bootstrap, topic, _EPOCH, datetime.now(UTC) + timedelta(days=1))
        async for batch in window.batches():
            for message in batch:
                yield message

    async def _reconcile(self) -> list[str]:
        code, told = await self.house.command("reconcile", "--from", self.start.isoformat())
        if code == 0 and told["comes_out"] and not told["on_the_way"] and told["whole"]:
            return []
        findings = [f"{each['what']}: {each['name']} ({each['where']})" for each in told.get("findings", [])]
        return [f"reconcile ends with {code}: {told.get('verdicts', told)}", *few("reconcile", findings)]

    async def _verify(self) -> list[str]:
        code, told = await self.house.command("ledger", "verify")
        if code == 0 and told["clean"]:
            return []
        return [f"ledger verify ends with {code}", *few("verify", map(str, told.get("faults", [told])))]


def few(what: str, found: Iterable[object]) -> Iterator[str]:
    """A line for the first of these, and how many there are in all; none where there are none."""
    each = sorted(map(str, found))
    if each:
        more = f" and {len(each) - _NAMED:,} more" if len(each) > _NAMED else ""
        yield f"{what}: {'; '.join(each[:_NAMED])}{more}"
