"""Without one of the conditions by which offers are chosen, or one of the rules of their order."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.mutant import Mutant

_DECIDE: Final = "abacus/engage/offers/decide"
_ARMED: Final = f"{_DECIDE}/armed.py"
_TERMS: Final = f"{_DECIDE}/terms.py"
_SHELF: Final = f"{_DECIDE}/shelf.py"
_SHORTLIST: Final = f"{_DECIDE}/shortlist.py"
_LINE_UP: Final = f"{_DECIDE}/line_up.py"
_STACKING: Final = f"{_DECIDE}/stacking.py"
_TESTS: Final = "tests/engage/offers"
_BASKETS: Final = (f"{_TESTS}/test_stacking.py::test_what_saves_most",)
_WHY_NOT: Final = (f"{_TESTS}/test_choice.py::test_why_not",)


def _golden(case: str) -> tuple[str]:
    return (f"{_TESTS}/test_golden_offers.py::test_golden[{case}]",)


def _choice(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_choice.py::{test}",)


MUTANTS: Final = (
    Mutant(
        "the price from which an offer holds",
        _TERMS,
        "_in_price",
        Node("terms.price_from <= asked.price < terms.price_below", "asked.price < terms.price_below"),
        _WHY_NOT,
    ),
    Mutant(
        "the price below which an offer holds",
        _TERMS,
        "_in_price",
        Node("terms.price_from <= asked.price < terms.price_below", "terms.price_from <= asked.price"),
        _WHY_NOT,
    ),
    Mutant("the pieces that an offer is for", _TERMS, "_in_quantity", Node("terms.pieces_from", "0"), _WHY_NOT),
    Mutant("the least sum of a basket", _TERMS, "_in_basket", Node("terms.basket_from", "0"), _WHY_NOT),
    Mutant(
        "the tiers that an offer is for",
        _TERMS,
        "_in_tier",
        Node("asked.has_tier(terms.tiers)", "True"),
        _golden("the cap decides between two"),
    ),
    Mutant(
        "the budget that is gone",
        _ARMED,
        "_has_budget",
        Node("armed.number not in asked.spent", "True"),
        _golden("a spent offer is not there"),
    ),
    Mutant(
        "the uses that a member has left",
        _ARMED,
        "_has_uses",
        Node("asked.asker.uses_left.get(armed.number, 1) > 0", "True"),
        _WHY_NOT,
    ),
    Mutant(
        "the period of an offer",
        _ARMED,
        "_in_period",
        Node("armed.starts <= asked.at < armed.ends", "True"),
        _WHY_NOT,
    ),
    Mutant(
        "the approval before which an offer does not hold",
        _ARMED,
        "Armed.__init__",
        Node("max(offer.starts_at, offer.approved_at)", "offer.starts_at"),
        _WHY_NOT,
    ),
    Mutant(
        "the members who are invited",
        _ARMED,
        "_is_admitted",
        Node("armed.number in asked.asker.admitted", "True"),
        _WHY_NOT,
    ),
    Mutant(
        "the days of the week of an offer",
        _ARMED,
        "_in_hours",
        Node("weekday not in offer.weekdays", "False"),
        _WHY_NOT,
    ),
    Mutant(
        "the hours of an offer",
        _ARMED,
        "_in_hours",
        Node("any(begin <= minute < end for begin, end in offer.hours)", "True"),
        _WHY_NOT,
    ),
    Mutant(
        "the exceptions of a scope",
        _ARMED,
        "_is_not_excepted",
        Node("armed.excepted.isdisjoint(asked.keys)", "True"),
        _WHY_NOT,
    ),
    Mutant(
        "the segments that an offer is for",
        _ARMED,
        "_in_segments",
        Node("all(map(asked.is_in, armed.parts.segments))", "True"),
        _WHY_NOT,
    ),
    Mutant("the rest of an offer's rule", _ARMED, "_rule_holds", Node("asked.holds(armed.plan)", "True"), _WHY_NOT),
    Mutant(
        "the values that cannot be told",
        f"{_DECIDE}/asked.py",
        "Asked.has_tier",
        Node("TIER in self.asker.not_now", "False"),
        _choice("test_what_cannot_be_told_leaves_an_offer_out"),
    ),
    Mutant(
        "the end of the search, where offers save as much",
        _SHORTLIST,
        "Shortlist.walk",
        Node("bound > least", "bound >= least"),
        _choice("test_offers_that_save_as_much_stand_in_one_order_however_they_came"),
    ),
    Mutant(
        "the end of a line-up, where offers save as much",
        _LINE_UP,
        "LineUp._look_at_groups",
        Node("waiting[0][0] <= seen[0][0]", "waiting[0][0] < seen[0][0]"),
        _choice("test_offers_that_save_as_much_stand_in_one_order_however_they_came"),
    ),
    Mutant(
        "the offers that came after a line-up was made",
        _LINE_UP,
        "LineUps.of",
        Node("not place.keys.isdisjoint(changes[place.seen:])", "False"),
        _choice("test_an_item_that_is_asked_for_again_and_again_has_what_came_and_went"),
    ),
    Mutant(
        "a line-up that is made anew after many changes",
        _LINE_UP,
        "LineUps.of",
        Node("place.changes is not changes", "place.line_up is None"),
        _choice("test_an_item_that_is_asked_for_again_and_again_has_what_came_and_went"),
    ),
    Mutant(
        "the conditions of the asker along a line-up",
        _SHORTLIST,
        "Shortlist.go_along",
        Node("group.admits(asked) and armed.admits(asked)", "True"),
        _choice("test_an_item_is_asked_for_by_members_of_many_kinds"),
    ),
    Mutant(
        "the groups that came after a ranking was made",
        _SHELF,
        "Shelf.put",
        Node("self._rankings.clear()", "None"),
        _choice("test_an_offer_with_terms_of_its_own_that_comes_after_a_question_is_found"),
    ),
    Mutant(
        "the order within a group",
        _SHELF,
        "Shelf.put",
        Node("insort(group.offers, armed, key=_ORDER)", "group.offers.append(armed)"),
        _choice("test_offers_that_save_as_much_stand_in_one_order_however_they_came"),
    ),
    Mutant(
        "the priority of an offer",
        _ARMED,
        "Armed.__init__",
        Node("-offer.priority", "0"),
        _choice("test_higher_priority_goes_first_where_the_saving_is_equal"),
    ),
    Mutant(
        "the line that no saving passes",
        f"{_DECIDE}/saving.py",
        "Formula.given",
        Node("cap if in_points or cap < line else line", "cap"),
        _golden("never more off than the price"),
    ),
    Mutant(
        "the rounding half up",
        f"{_DECIDE}/saving.py",
        "Formula.given",
        Node("(2 * exact + over) // (2 * over)", "exact // over"),
        _golden("rounded half up to the currency's cents"),
    ),
    Mutant(
        "the offers that stand alone in a basket",
        _STACKING,
        "combination",
        Node("single_offer(index, lines)", "()"),
        _BASKETS,
    ),
    Mutant(
        "the end of the search for a basket, where no group gives as much",
        f"{_DECIDE}/single_offer.py",
        "_Best.is_beyond",
        Node("most > self._rank[:2]", "True"),
        (f"{_TESTS}/test_single_offer.py::test_no_single_offer_is_better",),
    ),
    Mutant(
        "the offers that lines of a basket have by different keys",
        f"{_DECIDE}/single_offer.py",
        "_one_by_one",
        Node("times[each.number] > 1", "False"),
        (f"{_TESTS}/test_single_offer.py::test_no_single_offer_is_better",),
    ),
    Mutant(
        "the member's limits, as far as they are remembered",
        "abacus/engage/offers/till.py",
        "Till._wanted",
        Node("True", "False"),
        (f"{_TESTS}/test_till.py::test_a_members_limit_is_counted_as_it_is_taken_and_not_by_what_is_remembered",),
    ),
    Mutant(
        "the groups of which a basket has one offer",
        _STACKING,
        "_together",
        Node("each.stack.group", "each.name"),
        _BASKETS,
    ),
    Mutant(
        "the line that offers do not pass together",
        _STACKING,
        "_Basket.settled",
        Node("min(found.saves, left[place])", "found.saves"),
        _BASKETS,
    ),
)
