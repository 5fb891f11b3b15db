"""A journey: members are welcomed with their first order, and thanked for the next or reminded of it."""

from datetime import timedelta
from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.engage.journeys.decide.examples import welcome
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.wiring import built_in_sources

_PURCHASE: Final = "transactions/transaction.completed"
_AGAIN_WITHIN: Final = "3d"
_LASTS: Final = timedelta(days=300)


class Journeys(Chapter):
    """Cleo asks for it, and dora approves it."""

    looks = (Look("cleo", "/journeys", "a journey that welcomes members, drawn, with the members at each node"),)

    async def begin(self) -> None:
        house, now = self.house, self.house.clock.now()
        times = {"starts_at": now.isoformat(), "ends_at": (now + _LASTS).isoformat()}
        document = {**welcome("welcome", _PURCHASE, _AGAIN_WITHIN), "country": "SG", "timezone": "Asia/Singapore"}
        async with rendering() as renderer:
            built_in = built_in_sources(house.settings)
            desk = JourneyDesk(house.pool, house.clock, built_in, house.moves.approvals, renderer)
            _, approval = await desk.propose(await desk.read({**document, **times}), house.people["cleo"])
        await house.approve(approval.approval_id, "dora")
