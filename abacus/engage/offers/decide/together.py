"""Offers that are taken together: on which line each counts, and whether they may stand beside each other. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.engage.offers.decide.ask import Shown
from abacus.engage.offers.decide.offer import Offer, Stacking


class NotTogether(Refused):
    """The offer does not stand beside the others, or they leave nothing for it."""

    reason: Final = "stacking"

    def __init__(self, offer: str) -> None:
        super().__init__(f"{offer} cannot be taken together with the others")
        self.offer = offer


class Fitting(NamedTuple):
    """An offer, and the lines that it fits, with their places."""

    offer: Offer
    fits: Sequence[tuple[int, Shown]]


class Use(NamedTuple):
    """An offer on one line: what it saves there, in the smallest units, what it gives in points, and the points that
    the purchase earns by itself; None where that cannot be told.
    """

    offer: Offer
    saves: int
    gives: int
    earned: int | None


def uses_of(fitting: Sequence[Fitting], lines: Sequence[int]) -> list[Use]:
    """Each offer is used once for each time that it is named, on the line where it gives most; an offer is used once a
    line, and together they never save more than the line. Raises `NotTogether`.
    """
    _check_stacking([each.offer for each in fitting])
    left, used, uses = list(lines), set[tuple[str, int]](), list[Use]()
    for offer, fits in fitting:
        free = [
            (min(shown.saves, left[place]), shown.gives, -place, shown)
            for place, shown in fits
            if (offer.name, place) not in used
        ]
        saves, gives, place, shown = max(free, key=lambda each: each[:3], default=(0, 0, 0, None))
        if shown is None or not (saves or gives):
            raise NotTogether(offer.name)
        left[-place] -= saves
        used.add((offer.name, -place))
        uses.append(Use(offer, saves, gives, None if shown.points is None else shown.points - gives))
    return uses


def _check_stacking(offers: Sequence[Offer]) -> None:
    distinct = {each.name: each for each in offers}
    groups = set[str | None]()
    for each in distinct.values():
        if each.stack.stacking is Stacking.ALONE and len(distinct) > 1:
            raise NotTogether(each.name)
        if each.stack.stacking is Stacking.GROUP:
            if each.stack.group in groups:
                raise NotTogether(each.name)
            groups.add(each.stack.group)
