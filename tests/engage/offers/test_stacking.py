"""The offers that save most on a basket together."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain, combinations
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.offers.decide.asker import Question, Wanted
from abacus.engage.offers.decide.choice import Choice, every
from abacus.engage.offers.decide.offer import ALONE, Benefit, Offer, Scope, Stack, Stacking
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.stacking import MOST_EXACT, Combination, combination
from tests.engage.offers.any_offers import COUNT
from tests.engage.offers.examples import (
    AMOUNT,
    ASKER,
    EVERYTHING,
    PERCENT,
    PLUS,
    benefit,
    item,
    offer,
    within,
)
from tests.engage.offers.test_choice import ORDERS

ALWAYS: Final = Stack(Stacking.ALWAYS)
A, B, C = (Stack(Stacking.GROUP, each) for each in "abc")
THREE, FIVE = benefit(AMOUNT, "3"), benefit(AMOUNT, "5")
TEN = benefit(PERCENT, "10")
NOODLES = Scope(values=within("product noodles"))


def lines(*prices: int) -> list[Question]:
    """A line of each price; the first is of noodles."""
    items = [item(price, product=("noodles", "tea")[min(place, 1)]) for place, price in enumerate(prices)]
    return [Question(each, sum(prices)) for each in items]


def settled(
    offers: Sequence[Offer], questions: Sequence[Question], uses_left: dict[int, int] | None = None
) -> Combination:
    index = OfferIndex()
    for each in offers:
        index.put(each, None)
    found = combination(index, ASKER._replace(uses_left=uses_left or {}), questions)
    assert isinstance(found, Combination)
    return found


@pytest.mark.parametrize(
    ("offers", "prices", "uses"),
    [
        ([(TEN, ALONE)], [2000, 500], [(0, 1, 200), (1, 1, 50)]),  # on each line that it fits
        ([(TEN, ALONE), (FIVE, ALONE)], [2000, 500], [(0, 2, 500), (1, 2, 500)]),
        ([(TEN, ALONE), (THREE, ALWAYS)], [2000], [(0, 2, 300)]),  # alone it saves less
        (
            [(FIVE, ALONE), (THREE, ALWAYS), (TEN, ALWAYS)],
            [2500],
            [(0, 2, 300), (0, 3, 250)],
        ),  # together they save more
        ([(TEN, A), (THREE, A)], [2000], [(0, 2, 300)]),  # one of a group
        ([(TEN, A), (THREE, B)], [2000], [(0, 2, 300), (0, 1, 200)]),
        ([(TEN, A), (THREE, A), (FIVE, ALWAYS)], [4000], [(0, 3, 500), (0, 1, 400)]),
        ([(FIVE, ALWAYS), (THREE, ALWAYS)], [600], [(0, 1, 500), (0, 2, 100)]),  # never more than the line
        ([(FIVE, ALWAYS), (THREE, ALWAYS)], [500], [(0, 1, 500)]),  # what adds nothing is not used
        ([(benefit(PLUS, "40"), ALWAYS), (THREE, A)], [500], [(0, 2, 300), (0, 1, 0)]),
        ([], [500], []),
    ],
)
def test_what_saves_most(
    offers: Sequence[tuple[Benefit, Stack]], prices: Sequence[int], uses: Sequence[tuple[int, int, int]]
) -> None:
    """Each use has its line, the offer's number, and what it saves."""
    found = settled([offer(place, *each[:1], stack=each[1]) for place, each in enumerate(offers, 1)], lines(*prices))
    assert [(each.place, each.found.offer.number, each.found.saves) for each in found.uses] == list(uses)
    assert found.saves == sum(saves for _, _, saves in uses)
    assert found.exact


def test_the_better_of_a_group_depends_on_what_stands_beside_it() -> None:
    """On the noodles alone the ten percent save more; beside five off, which take all of the noodles, the tea does."""
    offers = [
        offer(1, FIVE, stack=ALWAYS, scope=NOODLES),
        offer(2, benefit(AMOUNT, "4"), stack=A, scope=NOODLES),
        offer(3, benefit(AMOUNT, "1"), stack=A, scope=Scope(values=within("product tea"))),
    ]
    assert settled(offers, lines(500, 900)).saves == 600


def test_an_offer_is_used_where_it_saves_most_when_few_uses_are_left() -> None:
    found = settled([offer(1, TEN)], lines(500, 2000, 900), {1: 2})
    assert [(each.place, each.found.saves) for each in found.uses] == [(1, 200), (2, 90)]


@pytest.mark.parametrize(("number", "exact"), [(MOST_EXACT, True), (MOST_EXACT + 1, False)])
def test_more_offers_than_are_looked_at_in_every_combination(number: int, *, exact: bool) -> None:
    offers = [offer(each, benefit(AMOUNT, str(each)), stack=(A, B, C)[each % 3]) for each in range(1, number + 1)]
    found = settled([*offers, offer(99, TEN)], lines(9000))
    assert found.exact is exact
    assert [each.found.offer.number for each in found.uses] == [number, number - 1, number - 2]


def test_what_has_to_be_looked_up_is_wanted_for_all_lines() -> None:
    index = OfferIndex()
    index.put(offer(1, TEN), ORDERS)
    assert combination(index, ASKER, lines(500, 900)) == Wanted(frozenset({COUNT}))


_stacks = st.sampled_from((ALONE, ALWAYS, A, B))
_benefits = st.one_of(
    st.integers(1, 9).map(lambda figure: Benefit(AMOUNT, Decimal(figure))),
    st.integers(1, 60).map(lambda figure: Benefit(PERCENT, Decimal(figure))),
)
_scopes = st.sampled_from((EVERYTHING, NOODLES, Scope(values=within("product tea"))))


@given(
    st.lists(st.tuples(_benefits, _stacks, _scopes), max_size=7), st.lists(st.integers(1, 1500), min_size=1, max_size=3)
)
def test_no_combination_saves_more(offers: Sequence[tuple[Benefit, Stack, Scope]], prices: Sequence[int]) -> None:
    some = [offer(place, each, stack=stack, scope=scope) for place, (each, stack, scope) in enumerate(offers, 1)]
    questions = lines(*prices)
    assert settled(some, questions).saves == max(_saved(each, questions) for each in _allowed(some))


def _allowed(offers: Sequence[Offer]) -> Iterator[Sequence[Offer]]:
    for some in chain.from_iterable(combinations(offers, size) for size in range(len(offers) + 1)):
        groups = [each.stack.group for each in some if each.stack.group is not None]
        if len(set(groups)) == len(groups) and (len(some) == 1 or all(each.stack != ALONE for each in some)):
            yield some


def _saved(offers: Sequence[Offer], questions: Sequence[Question]) -> int:
    index = OfferIndex()
    for each in offers:
        index.put(each, None)
    choices = [(each, every(index, ASKER, each)) for each in questions]
    return sum(
        min(asked.item.line, sum(found.saves for found in choice.fitting()))
        for asked, choice in choices
        if isinstance(choice, Choice)
    )
