"""The best of many offers for an item, in memory, on one core: by the index, and by a look at each."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.choice import Choice, best, every
from abacus.engage.offers.decide.keys import Key
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.shelf import group_of
from abacus.engage.offers.decide.stacking import combination
from abacus.process import look_for_garbage_seldom
from benchmarks.memory import mib
from benchmarks.offer_examples import askers, offer, offers, questions
from benchmarks.report import Figure

MANY: Final = 100_000
FEWER: Final = (1_000, 10_000)
QUESTIONS: Final = 2_000
ASKERS: Final = 200
ROUNDS: Final = 5
ONE_BY_ONE: Final = 20  # questions, where each offer is looked at
LISTED: Final = 20  # products of a listing page
BASKET: Final = 5  # lines
REPLACED: Final = 500

WANTED_RATIO: Final = 2
WANTED_LISTING_MS: Final = 1
WANTED_CHANGE_US: Final = 50
WANTED_BASKET_MS: Final = 10
WANTED_SECONDS: Final = 10
WANTED_MIB: Final = 600


def measure(many: int = MANY) -> Iterator[Figure]:
    look_for_garbage_seldom()  # as a worker does
    fewer = {number: _best_us(_index(number), number) for number in FEWER}
    before, started = mib(os.getpid()), time.process_time()
    index = _index(many)
    made, more = time.process_time() - started, mib(os.getpid()) - before
    took, again = _best_us(index, many), _best_again_us(index, many)
    asked = list(zip(_askers(many), questions(ASKERS), strict=True))
    by_look = _one_by_one(index, asked[:ONE_BY_ONE])
    yield Figure(
        f"best offer for an item, among {many:,}, one core",
        f"mean {took:.0f} µs",
        f"by a look at each {by_look / 1000:.1f} ms, {by_look / took:,.0f} times that",
    )
    yield Figure("… an item that was asked for lately", f"mean {again:.0f} µs", f"{again / took:.2f} times another")
    for number, each in fewer.items():
        ratio = took / each
        goal = (f"<= {WANTED_RATIO} times", ratio <= WANTED_RATIO) if number == FEWER[0] else ("", None)
        yield Figure(f"… among {number:,}", f"mean {each:.0f} µs", f"among {many:,} {ratio:.1f} times that", *goal)
    yield from _other_scenarios(index, asked)
    yield Figure(
        f"index of {many:,} offers, read and made",
        f"{made:.1f} s, {more:,} MiB",
        "",
        f"<= {WANTED_SECONDS} s, <= {WANTED_MIB} MiB",
        made <= WANTED_SECONDS and more <= WANTED_MIB,
    )
    yield _changes(index, asked, many)


def _index(number: int) -> OfferIndex:
    index = OfferIndex()
    for each, rule in offers(number):
        index.put(each, rule)
    index.warm()
    return index


def _askers(offers_there: int) -> list[Asker]:
    return list(askers(ASKERS, offers_there))


def _best_us(index: OfferIndex, offers_there: int) -> float:
    """The mean over all questions for items that nobody has asked for. Each is asked some times, each time for some
    cents more, and the quickest counts.
    """
    some = _askers(offers_there)
    return statistics.mean(
        min(_us(lambda: best(index, some[place % ASKERS], each)) for each in dearer)  # noqa: B023  # called at once
        for place, question in enumerate(questions(QUESTIONS))
        for dearer in [[_dearer(question, cents) for cents in range(ROUNDS)]]
    )


def _best_again_us(index: OfferIndex, offers_there: int) -> float:
    """The mean over these questions when each is asked again and again, by one member after the other."""
    some = _askers(offers_there)
    return statistics.mean(
        min(_us(lambda: best(index, some[(place + each) % ASKERS], question)) for each in range(ROUNDS))  # noqa: B023  # called at once
        for place, question in enumerate(questions(QUESTIONS))
    )


def _dearer(question: Question, cents: int) -> Question:
    item = question.item
    return question._replace(item=item._replace(price=item.price + cents), basket=question.basket + cents)


def _us(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e6


def _one_by_one(index: OfferIndex, asked: Sequence[tuple[Asker, Question]]) -> float:
    """The mean, in microseconds. It finds the offer that the index finds."""
    there: list[tuple[frozenset[Key], Armed]] = [(frozenset(each.places()), each) for each in index]
    taken = []
    for asker, question in asked:
        choice = best(index, asker, question)
        started = time.perf_counter()
        number = _best_of_all(index, there, asker, question)
        taken.append((time.perf_counter() - started) * 1e6)
        if not isinstance(choice, Choice) or number != (choice.best and choice.best.offer.number):
            raise AssertionError("the index and a look at each find different offers")
    return statistics.mean(taken)


def _best_of_all(
    index: OfferIndex, there: Sequence[tuple[frozenset[Key], Armed]], asker: Asker, question: Question
) -> int | None:
    asked = index.ask(asker, question)
    keys = set(asked.keys)
    ranks = []
    for places, armed in there:
        if not places.isdisjoint(keys):
            formula = armed.terms.formula
            given = asked.given(formula)
            if given and group_of(armed).admits(asked) and armed.admits(asked):
                ranks.append((*asked.rank_of(given, in_points=formula.in_points), armed.order))
    return min(ranks)[-1][-1] if ranks else None


def _other_scenarios(index: OfferIndex, asked: Sequence[tuple[Asker, Question]]) -> Iterator[Figure]:
    asker, some = asked[0][0], [question for _, question in asked]
    pages = [some[first : first + LISTED] for first in range(0, len(some), LISTED)]
    listing = statistics.median(
        min(_us(lambda: [best(index, asker, each) for each in page]) for page in _dearer_pages(page))  # noqa: B023  # at once
        for page in pages
    )
    yield Figure(
        f"… a listing of {LISTED} products",
        f"median {listing / 1000:.2f} ms",
        "",
        f"<= {WANTED_LISTING_MS} ms",
        listing <= WANTED_LISTING_MS * 1000,
    )
    few = some[:BASKET]
    for name, work in (
        ("all offers for an item", lambda: every(index, asker, some[0])),
        ("the best, and why not others", lambda: best(index, asker, some[0], explain=True)),
    ):
        yield Figure(f"… {name}", f"{min(_us(work) for _ in range(ROUNDS)) / 1000:.1f} ms")
    basket_us = min(_us(lambda: combination(index, asker, few)) for _ in range(ROUNDS))
    yield Figure(
        f"… the combination for a basket of {BASKET} lines",
        f"{basket_us / 1000:.1f} ms",
        "",
        f"<= {WANTED_BASKET_MS} ms",
        basket_us <= WANTED_BASKET_MS * 1000,
    )


def _dearer_pages(page: Sequence[Question]) -> Iterator[Sequence[Question]]:
    """The same products at prices that nobody has asked for."""
    return ([_dearer(each, ROUNDS + cents) for each in page] for cents in range(ROUNDS))


def _changes(index: OfferIndex, asked: Sequence[tuple[Asker, Question]], many: int) -> Figure:
    """Offers replaced by others, each followed by a question."""
    puts, next_ones = [], []
    for place in range(REPLACED):
        another = offer(1 + place * many // REPLACED, place)
        puts.append(_us(lambda: index.put(*another)))  # noqa: B023  # called at once
        next_ones.append(_us(lambda: best(index, *asked[place % ASKERS])))  # noqa: B023  # called at once
    median = statistics.median(puts)
    return Figure(
        "… one offer replaced",
        f"median {median:.0f} µs",
        f"the next question {statistics.median(next_ones):.0f} µs",
        f"<= {WANTED_CHANGE_US} µs",
        median <= WANTED_CHANGE_US,
    )
