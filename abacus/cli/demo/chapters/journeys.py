"""Three journeys: members are welcomed, greeted at ten, and offered double points before their points lapse."""

from datetime import timedelta
from typing import Final

from abacus.cli.demo.chapters.offers import shelves_of
from abacus.cli.demo.chapters.segments import EARLY
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.engage.journeys.decide.examples import DOUBLE_POINTS, LAPSING, new_year, welcome
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.wiring import built_in_sources

_PURCHASE: Final = "transactions/transaction.completed"
_AGAIN_WITHIN: Final = "3d"
_LASTS: Final = timedelta(days=300)
_GREETED_AFTER: Final = timedelta(days=40)
_AT_TEN: Final = {"at": "10:00", "zone": "country"}


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
        await shelves_of(house).fill_with_offers([DOUBLE_POINTS])
        early = {"segment": EARLY, "at": (now + _GREETED_AFTER).isoformat()}
        documents = (welcome("welcome", _PURCHASE, _AGAIN_WITHIN), new_year("greetings", early, _AT_TEN), LAPSING)
        async with rendering() as renderer:
            built_in = built_in_sources(house.settings)
            desk = JourneyDesk(house.pool, house.clock, built_in, house.moves.approvals, renderer)
            for document in documents:
                read = await desk.read({**document, **place, **times})
                _, approval = await desk.propose(read, house.people["cleo"])
                await house.approve(approval.approval_id, "dora")
