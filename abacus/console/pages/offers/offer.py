"""One offer: a version of it as sentences, who is invited, and what may be done to this version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.drafts.stated_pages import StatedPages
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.pages.offers.offer_list import OfferRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.documents.form.sentences import Sentence, sentences
from abacus.engage.offers.decide.document import to_document, to_toml
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS

PAGES: Final = StatedPages(OFFERS, OfferDesk)


@dataclass(frozen=True, kw_only=True)
class OfferPage(Page):
    """A version of one offer: that which the address names, or that in force, or else the latest. `newer` waits while
    this one is in force.
    """

    template: ClassVar[str] = "offer.html"
    offer: OfferRow
    newer: OfferRow | None
    sentences: Sequence[Sentence]
    document: str
    history: Sequence[VersionTold]
    act_options: Sequence[tuple[str, str]]
    may_edit: bool


async def offer(call: Call) -> OfferPage:
    history, now, desk = await PAGES.history(call), call.now, call.rooms[OfferDesk]
    record = PAGES.shown(call, history)
    newer, name = PAGES.waiting(call, history, record), record.document.name
    return OfferPage(
        title=name,
        command=f"abacus offers show {name}",
        offer=row_of(record, now),
        newer=row_of(newer, now) if newer is not None else None,
        sentences=sentences(OFFER_FORM, to_document(record.document)),
        document=to_toml(record.document),
        history=versions_told(OFFERS, await desk.versions(name), now),
        act_options=PAGES.act_options(call, record),
        may_edit=call.may(OFFERS.deed, record.document.country),
    )
