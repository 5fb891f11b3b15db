"""Why not? What a member would get for an item: of all offers in force in a country, of one version, or of a draft."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.form_field import FormField
from abacus.console.pages.drafts.preview import PreviewKind
from abacus.console.pages.offers.offer_pages import PAGES
from abacus.console.pages.offers.offer_question import ASKED, Foretold, fields_of, foretold, question_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.categories.kind import CategoryDesk
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.preview import MOST, OfferPreview
from abacus.people.types.deed import Deed

_MINUTES: Final = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True, kw_only=True)
class OfferPreviewPage(Page):
    """A form that is an address, and what came of it. `offer` is the version that is looked at; without one, all that
    are in force in the country.
    """

    template: ClassVar[str] = "offer_preview.html"
    offer: str | None
    name: str | None
    version: int | None
    countries: Sequence[tuple[str, str]]
    country: str | None
    fields: Sequence[FormField]
    found: Part[Foretold] | None = None


async def of_all(call: Call) -> OfferPreviewPage:
    open_ = call.countries(Deed.SEE)
    countries = [each for each in call.premises.countries() if open_ is None or each in open_]
    typed = call.narrowed("country", *ASKED)
    country = typed.get("country") if typed.get("country") in countries else next(iter(countries), None)
    card = call.premises.card_of(country) if country is not None else None
    page = OfferPreviewPage(
        title="Which offers?",
        command=None,
        offer=None,
        name=None,
        version=None,
        countries=[(each, each) for each in countries],
        country=country,
        fields=fields_of(card.timezone if card is not None else "UTC"),
        form=typed,
    )
    return await _answered(call, page, typed, country, None)


async def of_one(call: Call) -> OfferPreviewPage:
    history = await PAGES.history(call)
    offer = PAGES.shown(call, history).document
    typed = call.narrowed("version", *ASKED)
    page = OfferPreviewPage(
        title=f"Who gets {offer.name}?",
        command=None,
        offer=offer.label,
        name=offer.name,
        version=offer.version,
        countries=(),
        country=offer.country,
        fields=fields_of(offer.timezone, _first(call, offer)),
        form=typed,
    )
    return await _answered(call, page, typed, offer.country, offer)


async def _answered(
    call: Call, page: OfferPreviewPage, typed: Form, country: str | None, offer: Offer | None
) -> OfferPreviewPage:
    """The page with what was found, where a price was typed."""
    if country is None or not typed.get("price"):
        return page
    try:
        found = await call.part(_found(call, typed, country, offer))
    except WrongForm as wrong:
        return replace(page, form=wrong.form, fault=wrong.fault)
    return replace(page, found=found)


async def _found(call: Call, typed: Form, country: str, offer: Offer | None) -> Foretold:
    """Raises `WrongForm` and `Unavailable`."""
    trees = {each.country: each.above for each in (await call.rooms[CategoryDesk].latest()).values()}
    asked = await question_of(call, typed, country, trees.get(country, {}))
    if offer is not None:
        return await foretold(call, typed, [offer], asked)
    offers = await call.rooms[OfferPreview].for_items(country, asked.ask.items, asked.at)
    if len(offers) > MOST:
        fault = f"More than {MOST:,} offers may be for this item: look at one on its own page."
        raise WrongForm(typed, fault)
    return await foretold(call, typed, offers, asked)


def _first(call: Call, offer: Offer) -> str:
    """The first moment at which an offer holds that has not begun; empty for now."""
    if offer.starts_at <= call.now:
        return ""
    return _local(offer.starts_at, offer.zone)


def _local(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).strftime(_MINUTES)


async def _of_draft(call: Call, offer: Offer, around: OfferPublications) -> Foretold:
    """Raises `WrongForm` and `Unavailable`."""
    typed = Form({name: call.form.get(name) for name in ASKED})
    tree = around.categories.get(offer.country)
    asked = await question_of(call, typed, offer.country, tree.above if tree is not None else {})
    return await foretold(call, call.form.shown(), [offer], asked)


OFFER_PREVIEW: Final = PreviewKind[Offer, OfferPublications](
    title="Who would get it",
    about="",
    template="offer_draft_preview.html",
    fields=lambda call, offer: fields_of(offer.timezone, _first(call, offer)),
    read=_of_draft,
)
