"""Two journeys: members are welcomed with their first order, and reminded of points before these lapse."""

from datetime import timedelta
from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.engage.journeys.decide.examples import LAPSING, welcome
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.wiring import built_in_sources

_PURCHASE: Final = "transactions/transaction.completed"
_AGAIN_WITHIN: Final = "3d"
_LASTS: Final = timedelta(days=300)


class Journeys(Chapter):
    """Cleo asks for them, and dora approves them."""

    looks = (
        Look("cleo", "/journeys/welcome", "a journey, drawn, with the members who wait at each node"),
        Look("cleo", "/journeys/lapsing/report", "what became of members before their points lapsed"),
    )

    async def begin(self) -> None:
        house, now = self.house, self.house.clock.now()
        place = {"country": "SG", "timezone": "Asia/Singapore"}
        times = {"starts_at": now.isoformat(), "ends_at": (now + _LASTS).isoformat()}
        async with rendering() as renderer:
            built_in = built_in_sources(house.settings)
            desk = JourneyDesk(house.pool, house.clock, built_in, house.moves.approvals, renderer)
            for document in (welcome("welcome", _PURCHASE, _AGAIN_WITHIN), LAPSING):
                read = await desk.read({**document, **place, **times})
                _, approval = await desk.propose(read, house.people["cleo"])
                await house.approve(approval.approval_id, "dora")
