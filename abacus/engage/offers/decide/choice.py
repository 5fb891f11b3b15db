"""The best offers for an item, and the offers that came close. Pure."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from abacus.engage.offers.decide.armed import Armed, Rank
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.asker import Asker, Question, Wanted
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal, failures, near_misses, refusal
from abacus.engage.offers.decide.shelf import group_of
from abacus.engage.offers.decide.shortlist import Shortlist

NEXT_BEST: Final = 2  # offers beside the best


class Found(NamedTuple):
    """An offer that fits an item: what it saves on the line, in the smallest units of the currency, or the points that
    it gives. `worth` is what it is compared by, in the smallest units of the currency.
    """

    offer: Offer
    saves: int
    points: int
    worth: int


class Choice(NamedTuple):
    """The best offer for an item, the next ones in order, and the offers that came close, where those were asked for.
    `is_uncertain` says that an offer was left out because a value cannot be told now.
    """

    best: Found | None
    others: tuple[Found, ...] = ()
    refused: tuple[Refusal, ...] = ()
    is_uncertain: bool = False

    def fitting(self) -> tuple[Found, ...]:
        """The best offer and the others."""
        return () if self.best is None else (self.best, *self.others)


class Tally(NamedTuple):
    """The best offers for an item in order, and how many fit in all. The rest as of `Choice`."""

    best: Sequence[Found]
    in_all: int
    is_uncertain: bool


def best(index: OfferIndex, asker: Asker, question: Question, *, explain: bool = False) -> Choice | Wanted:
    """The best offer and the next best. Offers that cannot save as much are not looked at."""
    asked = index.ask(asker, question)
    shortlist = Shortlist(1 + NEXT_BEST)
    for group in index.admitted(asked):
        shortlist.look_at(group, asked)
    line_up = index.line_up(asked)
    if line_up is None:
        shortlist.walk(index.in_money(asked), asked)
    else:
        shortlist.go_along(line_up, asked)
    if not shortlist.is_beyond_points(index.most_points(asked), asked):
        shortlist.walk_points(index.in_points(asked), asked)
    fits = [_ranked(*each, asked) for each in zip(shortlist.armed, shortlist.ranks, strict=True)]
    return _choice(index, asked, fits, explain=explain)


def every(index: OfferIndex, asker: Asker, question: Question, *, explain: bool = False) -> Choice | Wanted:
    """All offers that fit, in order."""
    asked = index.ask(asker, question)
    ranked: dict[Rank, Found] = {}
    for group in chain(index.admitted(asked), index.groups(asked)):
        formula = group.formula
        given = asked.given(formula)
        if given and group.admits(asked):
            worth, points = asked.rank_of(given, in_points=formula.in_points)
            saves, gives = (0, given) if formula.in_points else (given, 0)
            for each in group.offers:
                if each.admits(asked):
                    ranked[worth, points, each.order] = Found(each.offer, saves, gives, -worth)
    return _choice(index, asked, [ranked[rank] for rank in sorted(ranked)], explain=explain)


def tally(index: OfferIndex, asker: Asker, question: Question, most: int) -> Iterator[Tally | Wanted | None]:
    """As `every`, of which all but the best are only counted: of thousands of offers a few are told. It comes at last;
    None comes before, with each group that was looked at.
    """
    asked = index.ask(asker, question)
    shortlist, numbers = Shortlist(most), set[int]()
    for group in [*index.admitted(asked), *index.groups(asked)]:  # others may come and go meanwhile
        yield None
        given = asked.given(group.formula)
        if given and group.admits(asked):
            admitting = [each for each in group.offers if each.admits(asked)]
            numbers.update([each.number for each in admitting])
            worth, points = asked.rank_of(given, in_points=group.formula.in_points)
            for each in admitting[:most]:
                shortlist.add((worth, points, each.order), each)
    if asked.wanted:
        yield Wanted(frozenset(asked.wanted))
    else:
        fits = [_ranked(*each, asked) for each in zip(shortlist.armed, shortlist.ranks, strict=True)]
        yield Tally(fits, len(numbers), asked.is_uncertain)


def judge(armed: Armed, asked: Asked) -> Found | Refusal | Wanted:
    """One offer by itself: what it gives, or the first condition that failed, with what it needs."""
    outcome = weigh(armed, asked)
    return refusal(outcome, armed, asked) if isinstance(outcome, Reason) else outcome


def weigh(armed: Armed, asked: Asked) -> Found | Reason | Wanted:
    """The same, of which nobody has to be told what it needs."""
    group = group_of(armed)
    if asked.is_in_scope(armed.offer.scope):
        failed = next(iter(failures(group, asked)), None) or next(
            (gate.reason for gate in armed.gates if not gate.opens(armed, asked)), None
        )
    else:
        failed = Reason.SCOPE
    if asked.wanted:
        return Wanted(frozenset(asked.wanted))
    return found(armed, asked) if failed is None else failed


def _choice(index: OfferIndex, asked: Asked, fits: Sequence[Found], *, explain: bool) -> Choice | Wanted:
    is_uncertain = asked.is_uncertain
    refused = tuple(near_misses(index, asked)) if explain else ()
    if asked.wanted:
        return Wanted(frozenset(asked.wanted))
    return Choice(fits[0] if fits else None, tuple(fits[1:]), refused, is_uncertain)


def _ranked(armed: Armed, rank: Rank, asked: Asked) -> Found:
    """What an offer of this rank gives."""
    return found(armed, asked) if armed.terms.formula.in_points else Found(armed.offer, -rank[0], 0, -rank[0])


def found(armed: Armed, asked: Asked) -> Found:
    """What an offer gives that fits."""
    formula = armed.terms.formula
    given = asked.given(formula)
    worth, _ = asked.rank_of(given, in_points=formula.in_points)
    return Found(armed.offer, 0 if formula.in_points else given, given if formula.in_points else 0, -worth)
