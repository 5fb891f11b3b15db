"""One offer: a version of it as sentences, what was taken, and what may be done to this version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.decide.bars import OVERALL, Bar, Counted, bars_of
from abacus.console.pages.offers.offer_codes import OfferCodes, codes_of_offer
from abacus.console.pages.offers.offer_invitations import OfferInvitations, invitations_of_offer
from abacus.console.pages.offers.offer_pages import PAGES, today_of
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.offer import LIMIT_WORDS, Offer
from abacus.engage.offers.decide.taken import Taken
from abacus.engage.offers.desk import OfferDesk


@dataclass(frozen=True)
class Line:
    """How often something came of the offer, with the money and the points that it gave."""

    what: str
    times: int
    saves: float
    points: int


@dataclass(frozen=True)
class Used:
    """What was taken of an offer, by all its versions: beside its limits, and by what came of it."""

    bars: Sequence[Bar]
    lines: Sequence[Line]
    currency: str


@dataclass(frozen=True, kw_only=True)
class OfferPage(Page):
    """A version of one offer."""

    template: ClassVar[str] = "offer.html"
    shown: ShownVersion
    used: Part[Used]
    codes: OfferCodes | None
    invitations: OfferInvitations | None


async def offer(call: Call) -> OfferPage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    return OfferPage(
        title=name,
        command=f"abacus offers show {name}",
        shown=await PAGES.version(call, history, record),
        used=await call.part(_used(call, record.document)),
        codes=await codes_of_offer(call, record.document),
        invitations=await invitations_of_offer(call, record.document),
    )


async def _used(call: Call, of: Offer) -> Used:
    today = today_of(call, of)
    ever, day = await call.rooms[OfferDesk].taken(of.name, today)
    counted = Counted({OVERALL: ever.used, today: day.used}, {OVERALL: ever.held, today: day.held})
    return Used(bars_of(of.limits, LIMIT_WORDS, counted, today), _lines(ever), of.currency)


def _lines(taken: Taken) -> list[Line]:
    return [Line(each.outcome, each.times, each.saves / MICROS, each.points) for each in taken.came_of]
