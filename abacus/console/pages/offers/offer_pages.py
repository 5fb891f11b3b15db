"""What the pages of offers say of their own."""

from collections.abc import Sequence
from typing import Final

from abacus.console.decide.bars import Counted, bars_of
from abacus.console.pages.stated.stated_pages import BarsByName, StatedPages
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.engage.offers.decide.benefit_reader import benefit_words
from abacus.engage.offers.decide.offer import LIMIT_WORDS, Offer
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS
from abacus.people.types.deed import Deed


def today_of(call: Call, offer: Offer) -> str:
    """The day of the offer's zone, as its limits name it."""
    return call.now.astimezone(offer.zone).date().isoformat()


async def edited(call: Call) -> Offer:
    """The latest version of the offer whose page the form is on. Raises `PageFault` where the person may not."""
    history = await call.rooms[OfferDesk].history(call.request.path_params["name"])
    if not history or not call.may(Deed.SEE, history[-1].document.country):
        raise PageFault("not-found", "No such offer is open to you.")
    offer = history[-1].document
    call.check(Deed.EDIT_OFFERS, offer.country)
    return offer


async def used_bars(call: Call, offers: Sequence[Offer]) -> BarsByName:
    """The bars of offers over their whole lives and of the day, by name."""
    days = {each.name: today_of(call, each) for each in offers}
    used = await call.rooms[OfferDesk].used(days)
    return {
        each.name: bars_of(each.limits, LIMIT_WORDS, Counted(used.get(each.name, {})), days[each.name])
        for each in offers
    }


PAGES: Final = StatedPages(
    kind=OFFERS,
    desk=OfferDesk,
    title="Offers",
    about="What members get off an item, for whom and within which limits.",
    used=used_bars,
    links=[("Which offers?", "/offers-preview"), ("Report", "/offers-report")],
    is_granted=True,
    told={"gives": lambda offer: benefit_words(offer.benefit, offer.currency), "for": lambda offer: offer.audience},
)
