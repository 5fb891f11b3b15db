"""What people ask about offers: a member, or none, and a line of a basket; and the answer in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from abacus.console.decide.asked_item import BadItem, item_of
from abacus.console.decide.form_field import FormField
from abacus.console.decide.typed import local_moment
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form, WrongForm
from abacus.core.errors import SetAside
from abacus.core.fields import Fault
from abacus.engage.offers.decide.ask import Ask, Shown
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.refusal import Refusal
from abacus.engage.offers.decide.spot import Spot
from abacus.engage.offers.preview import Foreseen, OfferPreview
from abacus.engage.offers.qualifier import OtherCountry
from abacus.engage.offers.spots import spot_among
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_directory import RegionDirectory

ASKED: Final = (
    *("member", "place", "product", "merchant", "brand", "categories", "price", "quantity", "variables", "code", "at"),
)
_MOST_REFUSED: Final = 100
_MOST_PLACES: Final = 5  # of which one is meant


class Question(NamedTuple):
    """What is asked, and of which moment."""

    ask: Ask
    at: datetime


@dataclass(frozen=True)
class Given:
    """An offer that the member would get: money in the currency of the item, and the points that the purchase earns."""

    name: str
    version: int
    about: str
    saves: str
    pays: str
    points: int | None
    ends_at: datetime


@dataclass(frozen=True)
class NotGiven:
    """An offer that the member would not get, and what it needs."""

    name: str
    version: int
    about: str
    needs: str


@dataclass(frozen=True)
class Foretold:
    """The offers that the member would get, the best first, and the others. `is_degraded`: a part of what they ask
    could not be read now.
    """

    currency: str
    country: str
    at: datetime
    given: Sequence[Given]
    not_given: Sequence[NotGiven]
    more_not_given: int
    is_degraded: bool
    faults: Sequence[Fault] = ()


def fields_of(zone: str, at: str = "") -> Sequence[FormField]:
    """`at` is what the field of the moment begins with."""
    return (
        FormField("member", "Member", hint="The id; empty: somebody unknown."),
        FormField("place", "Place", hint="Its id, or a part of its name. What is left out below is as it is there."),
        FormField("product", "Product"),
        FormField("merchant", "Merchant"),
        FormField("brand", "Brand"),
        FormField("categories", "Categories", hint="The widest first: food, noodles."),
        FormField("price", "Price of a piece", inputmode="decimal"),
        FormField("quantity", "Pieces", value="1", inputmode="numeric"),
        FormField("code", "Code", hint="Of an offer by code."),
        FormField("at", "When", value=at, type="datetime-local", hint=f"Empty: now. By the clock of {zone}."),
        FormField("variables", "Variables", hint="One a line: vertical = food", type="textarea"),
    )


async def question_of(call: Call, typed: Form, country: str, above: Mapping[str, tuple[str, ...]]) -> Question:
    """Raises `WrongForm`, `PageFault` and `Unavailable`."""
    call.check(Deed.SEE, country)
    book = call.rooms[CardReader].book()
    zone = _zone(call, country)
    at = local_moment(typed.get("at"), zone) if typed.get("at") else call.now
    if at is None:
        raise WrongForm(typed.but(at="Write a day and a time."))
    try:
        card = book.in_force(country, at)
    except SetAside as fault:
        raise WrongForm(typed.but(at=f"{country} has no rate card then."), str(fault.detail)) from None
    spot = await _spot(call, typed, country)
    try:
        item = item_of(typed.typed, card.card.currency, above, spot)
    except BadItem as bad:
        raise WrongForm(typed.but(**bad.wrong)) from None
    codes = [typed.get("code")] if typed.get("code") else []
    return Question(Ask(card, [item], member_id=typed.get("member") or None, codes=codes), at)


async def foretold(call: Call, typed: Form, offers: Sequence[Offer], asked: Question) -> Foretold:
    """Raises `WrongForm` and `Unavailable`."""
    ask, at = asked
    try:
        found = await call.rooms[OfferPreview].look(offers, ask, at)
    except OtherCountry:
        raise WrongForm(typed.but(member=f"The member's points are not in {ask.card.card.scope}.")) from None
    return _told(found, asked)


async def _spot(call: Call, typed: Form, country: str) -> Spot | None:
    """Where it is bought, if that was typed. Raises `WrongForm` and `Unavailable`."""
    if not (text := typed.get("place").strip()):
        return None
    places = await call.rooms[PlaceDesk].named(country, text, _MOST_PLACES + 1)
    if not places:
        raise WrongForm(typed.but(place=f"{country} has no place of this id, nor with this in its name."))
    if len(places) > 1:
        first = ", ".join(f"{each.id} ({each.name})" for each in places[:_MOST_PLACES])
        raise WrongForm(typed.but(place=f"Write which one: {first}{', …' * (len(places) > _MOST_PLACES)}"))
    return spot_among(call.rooms[RegionDirectory].value(), places[0])


def _told(found: Foreseen, asked: Question) -> Foretold:
    card = asked.ask.card.card
    refused = found.refused[:_MOST_REFUSED]
    return Foretold(
        currency=card.currency,
        country=card.scope,
        at=asked.at,
        given=[_given(each, card.currency) for each in found.fits],
        not_given=[_not_given(each) for each in refused],
        more_not_given=len(found.refused) - len(refused),
        is_degraded=found.reading.is_degraded,
    )


def _given(shown: Shown, currency: str) -> Given:
    offer = shown.offer
    saves, pays = money_text(shown.saves, currency), money_text(shown.pays, currency)
    return Given(offer.name, offer.version, offer.about, saves, pays, shown.points, offer.ends_at)


def _not_given(refused: Refusal) -> NotGiven:
    offer, needs = refused.offer, refused.needs
    return NotGiven(offer.name, offer.version, offer.about, f"{needs[:1].upper()}{needs[1:]}")


def _zone(call: Call, country: str) -> str:
    card = call.premises.card_of(country)
    if card is None:
        raise PageFault("not-found", f"{country} has no rate card, so there are no offers.")
    return card.timezone
