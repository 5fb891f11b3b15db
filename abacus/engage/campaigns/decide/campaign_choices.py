"""What a campaign can choose from: what is published now. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.documents.form.languages import LANGUAGES
from abacus.documents.form.types import Choices, Side, options
from abacus.documents.form.zones import ZONES, zone_options
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.vocabulary import sides_there_are
from abacus.engage.offers.decide.invited import given_in
from abacus.pricing.decide.likely import likely_values
from abacus.signals.events.decide.source import BUILT_IN
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.choices import side, type_options, types_named

_ABOUT: Final = {
    "var": "the event",
    "event": "the event",
    "place": "where it happened",
    "member": "the member",
    "campaign": "the campaign so far",
    "segment": "segments",
    "counter": "counters",
}


def campaign_choices(document: Mapping[str, Any], around: Publications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    country = str(document.get("country", ""))
    card = around.cards.get(country)
    types = type_options(around.sources)
    split = document.get("split")
    arms = [str(each) for each in split if each != "control"] if isinstance(split, Mapping) else []
    return Choices(
        lists={
            "events": types,
            "published": [each for each in types if each.under not in BUILT_IN],
            "webhooks": options(sorted(around.webhooks)),
            "offers": options(given_in(country, around.offers)),
            "rewards": options(sorted(name for name, head in around.rewards.items() if head.country == country)),
            "locales": LANGUAGES,
            "countries": options(sorted(around.cards)),
            ZONES: zone_options(country, sorted({each.card.timezone for each in around.cards.values()})),
            "programs": options([card.card.program] if card is not None else []),
            "currencies": options([card.card.currency] if card is not None else []),
            "arms": options(arms),
        },
        sides=_sides(document, around),
        variables={each.value: dict(around.sources[each.under].types[each.words]) for each in types},
    )


def _sides(document: Mapping[str, Any], around: Publications) -> Mapping[str, Side]:
    """None while the types of events are at fault."""
    types = types_named(document.get("on"), around.sources)
    if not types:
        return {}
    likely = likely_values(str(document.get("country", "")), around.cards)
    seen = _seen(types, around)
    sides = {}
    for text, type_ in sides_there_are(Vocabulary(types, around.sources), around).items():
        origin, _, name = text.partition(".")
        real = seen.get(name, ()) if origin == "var" else ()
        sides[text] = side(
            text,
            type_,
            _ABOUT.get(origin, "services"),
            real=real,
            likely=likely.get(name, likely.get(text, ())),
            argument="7d" if origin == COUNTER.name else None,
        )
    return sides


def _seen(types: Sequence[EventType], around: Publications) -> Mapping[str, Sequence[str]]:
    """Values that the variables of the last events of these types had."""
    found: dict[str, list[str]] = {}
    for each in types:
        for name, values in around.seen.get(each, {}).items():
            found.setdefault(name, []).extend(values)
    return {name: list(dict.fromkeys(values)) for name, values in found.items()}
