"""The best single offer for a basket is the one that a look at every offer finds, however few groups are looked at."""

from collections.abc import Collection, Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.basket_lines import BasketLines, Use
from abacus.engage.offers.decide.choice import Choice, every
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.single_offer import single_offer
from abacus.signals.rules.decide.types import Rule
from tests.engage.offers.any_offers import askers, offers, questions, spent


@given(st.lists(offers(), max_size=30), askers(), st.lists(questions(), min_size=1, max_size=4), spent)
def test_no_single_offer_is_better(
    some: Sequence[tuple[Offer, Rule | None]], asker: Asker, basket: Sequence[Question], gone: Collection[int]
) -> None:
    index = OfferIndex()
    index.spent = gone
    for offer, rule in some:
        index.put(offer, rule)
    uses = single_offer(index, BasketLines([index.ask(asker, each) for each in basket]))
    assert sorted(uses) == min(map(sorted, _uses_of_each(index, asker, basket)), key=_rank, default=[])


def _uses_of_each(index: OfferIndex, asker: Asker, basket: Sequence[Question]) -> Iterable[list[Use]]:
    uses: dict[Offer, list[Use]] = {}
    for place, question in enumerate(basket):
        choice = every(index, asker, question)
        assert isinstance(choice, Choice)
        for found in choice.fitting():
            uses.setdefault(found.offer, []).append(Use(place, found))
    for offer, each in uses.items():
        each.sort(key=lambda use: (-use.found.worth, -use.found.points, use.place))
        yield each[: asker.uses_left.get(offer.number, len(each))]


def _rank(uses: Sequence[Use]) -> tuple[float, ...]:
    offer = uses[0].found.offer
    worth = sum(each.found.worth for each in uses)
    points = sum(each.found.points for each in uses if not each.found.worth)
    return -worth, -points, -offer.priority, offer.ends_at.timestamp(), offer.number
