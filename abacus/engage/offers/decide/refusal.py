"""Offers that are refused, with the condition that failed and what it needs. Pure."""

from collections.abc import Iterator
from heapq import nsmallest
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.armed import Armed, Rank
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.needs import needs
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.shelf import Group

MOST_REFUSED: Final = 20  # offers that came close

_Near: TypeAlias = tuple[Rank, Armed, Reason]
_GIVES: Final = itemgetter(0)


class Refusal(NamedTuple):
    """An offer, the condition that failed, and what it needs in words: "spend SGD 4.20 more"."""

    offer: Offer
    reason: Reason
    needs: str


def near_misses(index: OfferIndex, asked: Asked) -> list[Refusal]:
    """The offers that a single condition keeps from the item, what gives most first. Only the first ones are named;
    groups that give less are not looked at.
    """
    near: dict[int, _Near] = {}
    giving = [
        (asked.rank_of(asked.given(group.formula), in_points=group.formula.in_points), group)
        for group in chain(index.groups(asked), index.apart(asked))
    ]
    for gives, groups in groupby(sorted(giving, key=_GIVES), key=_GIVES):
        if len(near) >= MOST_REFUSED:
            break
        for _, group in groups:
            near |= {armed.number: ((*gives, armed.order), armed, reason) for armed, reason in _near(group, asked)}
    nearest = nsmallest(MOST_REFUSED, near.values(), key=_GIVES)
    return [refusal(reason, armed, asked) for _, armed, reason in nearest]


def refusal(reason: Reason, armed: Armed, asked: Asked) -> Refusal:
    return Refusal(armed.offer, reason, needs(reason, armed, asked))


def failures(group: Group, asked: Asked) -> list[Reason]:
    """The conditions of the terms that fail."""
    failed = [gate.reason for gate in group.gates if not gate.opens(group.terms, asked)]
    return failed if asked.given(group.formula) else [*failed, Reason.NOTHING]


def _near(group: Group, asked: Asked) -> Iterator[tuple[Armed, Reason]]:
    of_terms = failures(group, asked)
    if len(of_terms) <= 1:
        for armed in group.offers:
            if armed.is_narrowed and not asked.is_in_scope(armed.offer.scope):
                continue  # it is for other items at the place
            failed = [*of_terms, *islice(_own_failures(armed, asked), 2)]
            if len(failed) == 1:
                yield armed, failed[0]


def _own_failures(armed: Armed, asked: Asked) -> Iterator[Reason]:
    """The conditions of the offer itself that fail; each part of its rule is one."""
    for gate in armed.gates:
        if gate.reason is Reason.RULE:
            yield from (gate.reason for _ in asked.failing(armed.parts.rest))
        elif not gate.opens(armed, asked):
            yield gate.reason
