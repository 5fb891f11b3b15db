"""What an offer can choose from: what is published now. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.documents.form.types import Choices, Side, options
from abacus.documents.form.zones import ZONES, zone_options
from abacus.engage.offers.decide.offer_form import CATEGORIES
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.vocabulary import ITEMS, offer_catalog, typed_by_use
from abacus.pricing.decide.likely import likely_values
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.choices import side

_ABOUT: Final = {"member": "the member", "segment": "segments", "counter": "counters", "external": "services"}
_OF_CARDS: Final = ("vertical", "payment_type")  # variables whose values rate cards name


def offer_choices(document: Mapping[str, Any], around: OfferPublications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    country = str(document.get("country", ""))
    card, categories = around.cards.get(country), around.categories.get(country)
    return Choices(
        lists={
            "countries": options(sorted(around.cards)),
            "currencies": options([] if card is None else [card.card.currency]),
            ZONES: zone_options(country, sorted({each.card.timezone for each in around.cards.values()})),
            CATEGORIES: options(() if categories is None else categories.above),
        },
        sides=_sides(document, around, country),
    )


def _sides(document: Mapping[str, Any], around: OfferPublications, country: str) -> Mapping[str, Side]:
    """Variables are those that the draft compares already, and those of rate cards."""
    variables = {**dict.fromkeys(_OF_CARDS, VariableType.TEXT), **typed_by_use(document.get("when"))}
    types = {
        **{f"var.{name}": type_ for name, type_ in variables.items()},
        **{text: type_ for text, (_, type_) in ITEMS.fields.items()},
        **offer_catalog(around).types(),
    }
    likely = likely_values(country, around.cards)
    return {
        text: side(
            text,
            type_,
            _ABOUT.get(text.partition(".")[0], "the item"),
            likely=likely.get(text.removeprefix("var."), ()),
            argument="7d" if text.startswith(f"{COUNTER.name}.") else None,
        )
        for text, type_ in types.items()
    }
