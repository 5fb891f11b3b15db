"""Three campaigns: with arms, with a budget that is nearly gone, and with a message. A fourth is asked for."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from abacus.cli.demo.campaigns import SOURCE
from abacus.cli.demo.chapters.segments import EARLY
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.engage.campaigns.decide.examples import APP, LATE_DELIVERY, THIRD_MEAL, TWO_RIDES, WEEKEND_GROCERIES
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.notify.renderer import rendering
from abacus.people.types.approval import Approval
from abacus.signals.events.decide.message import encode_event, partition_key
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import Reserved, SourceDesk
from abacus.signals.events.types import Event
from abacus.signals.events.wiring import built_in_sources

_NEARLY_GONE: Final = {"budget": {"overall": "130.00", "cost_of_point": "0.008"}}
_CAMPAIGNS: Final = (THIRD_MEAL, {**LATE_DELIVERY, "limits": _NEARLY_GONE}, TWO_RIDES)
_OF_EARLY_MEMBERS: Final = {"operator": "eq", "lhs": f"segment.{EARLY}", "rhs": True}
_TO_COME: Final = {
    **WEEKEND_GROCERIES,
    "when": {"operator": "and", "conditions": [WEEKEND_GROCERIES["when"], _OF_EARLY_MEMBERS]},
}
_LATE_ON: Final = 5  # the weekday on which deliveries are late
_LATE: Final = 12


class Campaigns(Chapter):
    """Cleo asks for them, and dora approves three of them."""

    looks = (Look("cleo", "/campaigns", "campaigns with arms and messages, and a budget that is nearly gone"),)

    async def begin(self) -> None:
        house = self.house
        reserved = Reserved(built_in_sources(house.settings), house.settings.events_topic)
        desk = SourceDesk(house.pool, house.clock, reserved)
        await desk.publish(await desk.differences([parse_source(SOURCE)]), house.people["cleo"])
        for approval in await self._proposed(_CAMPAIGNS):
            await house.approve(approval.approval_id, "dora")

    async def day(self, day: date) -> None:
        if day.weekday() == _LATE_ON:
            events = [self._late(day, number) for number in range(_LATE)]
            messages = [(partition_key(each), encode_event(each)) for each in events]
            await self.house.send(self.house.settings.events_topic, messages)

    async def end(self) -> None:
        await self._proposed([_TO_COME])

    async def _proposed(self, documents: Sequence[Mapping[str, Any]]) -> list[Approval]:
        house, now = self.house, self.house.clock.now()
        ends_at = (now + timedelta(days=300)).isoformat()
        place = {"country": "SG", "timezone": "Asia/Singapore", "starts_at": now.isoformat(), "ends_at": ends_at}
        approvals = []
        async with rendering() as renderer:
            built_in = built_in_sources(house.settings)
            desk = CampaignDesk(house.pool, house.clock, built_in, house.moves.approvals, renderer)
            for document in documents:
                _, approval = await desk.propose(await desk.read({**document, **place}), house.people["cleo"])
                approvals.append(approval)
        return approvals

    def _late(self, day: date, number: int) -> Event:
        member, minutes = f"sg-{1001 + self.house.rng.randrange(60)}", self.house.rng.randint(61, 95)
        variables: dict[str, str | int] = {"vertical": "food", "minutes": minutes}
        return Event(APP, "order.completed", f"late-{day}-{number}", member, "SG", self.house.clock.now(), variables)
