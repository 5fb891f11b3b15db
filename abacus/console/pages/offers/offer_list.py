"""The list of offers: state, benefit and audience of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.page import Page
from abacus.documents.decide.states import State
from abacus.engage.offers.decide.benefit_reader import benefit_words
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.offer_store import OfferRecord
from abacus.people.types.deed import Deed

_MOST: Final = 50


@dataclass(frozen=True)
class OfferRow:
    """A version of an offer."""

    name: str
    version: int
    about: str
    country: str
    state: str
    gives: str
    audience: str
    starts_at: datetime
    ends_at: datetime
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, kw_only=True)
class OffersPage(Page):
    """The latest version of each, by name."""

    template: ClassVar[str] = "offers.html"
    list: Rows[OfferRow]
    chosen: str | None
    states: Sequence[str] = tuple(State)
    may_draft: bool


async def offers(call: Call) -> OffersPage:
    state, desk, countries = call.chosen("state", State), call.rooms[OfferDesk], call.countries(Deed.SEE)
    found = await desk.page(countries=countries, state=state, after=call.asked("after"), limit=_MOST + 1)
    shown = found[:_MOST]
    more = call.next_page(shown[-1].document.name) if len(found) > _MOST else None
    return OffersPage(
        title="Offers",
        command=f"abacus offers list --state {state}" if state else "abacus offers list",
        list=Rows([row_of(each, call.now) for each in shown], more),
        chosen=state,
        may_draft=call.may_somewhere(Deed.EDIT_OFFERS),
    )


def row_of(record: OfferRecord, now: datetime) -> OfferRow:
    offer = record.document
    return OfferRow(
        name=offer.name,
        version=offer.version,
        about=offer.about,
        country=offer.country,
        state=record.state(now),
        gives=benefit_words(offer.benefit, offer.currency),
        audience=offer.audience,
        starts_at=offer.starts_at,
        ends_at=offer.ends_at,
        changed_at=record.changed_at,
        changed_by=record.changed_by,
    )
