"""Values that rate cards name, as what a variable may be compared with. Pure."""

from collections.abc import Mapping, Sequence

from abacus.pricing.decide.card import PublishedCard


def likely_values(country: str, cards: Mapping[str, PublishedCard]) -> Mapping[str, Sequence[str]]:
    """By variables and left sides: of the country's card, or of all where it has none."""
    of = [cards[country]] if country in cards else list(cards.values())
    return {
        "vertical": sorted({name for each in of for name in each.card.verticals}),
        "payment_type": sorted({name for each in of for name in each.card.payment_types}),
        "member.tier": sorted({name for each in of for name in each.card.tiers}),
        "country": sorted(cards),
        "member.country": sorted(cards),
        "currency": sorted({each.card.currency for each in of}),
    }
