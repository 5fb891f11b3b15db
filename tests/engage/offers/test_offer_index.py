"""The index finds what a look at every offer finds, in the same order, whatever was put and removed before."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.choice import NEXT_BEST, Choice, Found, Tally, best, every, tally
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.refusal import MOST_REFUSED
from abacus.signals.rules.decide.types import Rule
from tests.engage.offers import plain
from tests.engage.offers.any_offers import askers, offers, questions, spent

_OFFERS = st.lists(offers(), min_size=4, max_size=30)


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])  # so many offers take minutes to shrink
@given(_OFFERS, _OFFERS, st.tuples(askers(), askers()), st.lists(questions(), min_size=1, max_size=4), spent)
def test_it_agrees_with_a_look_at_each(
    first: Sequence[tuple[Offer, Rule | None]],
    then: Sequence[tuple[Offer, Rule | None]],
    some: tuple[Asker, Asker],
    asked: Sequence[Question],
    gone: Collection[int],
) -> None:
    """Of the second offers each takes the place of a version before it, and every third leaves at once."""
    index, there = OfferIndex(), dict[int, tuple[Offer, Rule | None]]()
    index.spent = gone
    for each in first:
        index.put(*each)
        there[each[0].number] = each
    index.warm()
    _agree(index, there, some, asked, gone)
    for place, each in enumerate(then):
        index.put(*each)
        there[each[0].number] = each
        if not place % 3:
            index.remove(each[0].number)
            del there[each[0].number]
    assert len(index) == len(there)
    _agree(index, there, some, asked, gone)


def _agree(
    index: OfferIndex,
    there: Mapping[int, tuple[Offer, Rule | None]],
    some: Iterable[Asker],
    asked: Sequence[Question],
    gone: Collection[int],
) -> None:
    for asker, question in product(some, asked):
        expected = [
            (each.number, each.saves, each.points) for each in plain.fitting(there.values(), asker, question, gone)
        ]
        for _ in range(3):  # the first time, then by what was found for the askers before
            assert _found(best(index, asker, question)) == expected[: 1 + NEXT_BEST]
        assert _found(every(index, asker, question)) == expected
        *_, told = tally(index, asker, question, 3)
        assert isinstance(told, Tally)
        assert (_numbers(told.best), told.in_all) == (expected[:3], len(expected))
        explained = best(index, asker, question, explain=True)
        assert isinstance(explained, Choice)
        refused = [(each.offer.number, each.reason) for each in explained.refused]
        assert refused == plain.near_misses(there.values(), asker, question, gone)[:MOST_REFUSED]


def _found(choice: object) -> list[tuple[int, int, int]]:
    assert isinstance(choice, Choice)
    return _numbers(choice.fitting())


def _numbers(found: Iterable[Found]) -> list[tuple[int, int, int]]:
    return [(each.offer.number, each.saves, each.points) for each in found]
