"""Without one look, lock or sum that lets a reservation end once, give back what it took, and be accounted for."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_DECIDE: Final = "abacus/engage/offers/decide"
_SETTLEMENT: Final = f"{_DECIDE}/settlement.py"
_TOGETHER: Final = f"{_DECIDE}/together.py"
_REDEMPTIONS: Final = "abacus/engage/offers/redemptions.py"
_ROWS: Final = "abacus/engage/offers/reservation_rows.py"
_SPENT: Final = "abacus/engage/offers/spent.py"
_RECONCILE: Final = "abacus/oversight/reconcile/offers.py"


def _reserving(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_reservations.py::{test}",)


def _redeeming(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_redemptions.py::{test}",)


def _waits(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_taking_waits.py::{test}",)


def _till(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_till.py::{test}",)


def _spent(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_spent.py::{test}",)


def _reconciled(broken: str) -> tuple[str]:
    return (f"tests/oversight/reconcile/test_offers.py::test_what_does_not_come_out_is_named[{broken}]",)


_ONCE: Final = _redeeming("test_it_is_redeemed_once")
_ENDED: Final = _redeeming("test_what_is_released_or_overdue_is_not_redeemed")
_IN_PARTS: Final = _redeeming("test_a_redemption_is_rolled_back_in_parts_and_whole")
_TOGETHER_ONCE: Final = _till("test_several_count_once_a_line_and_never_save_more_than_it")
_BACK: Final = _till("test_points_are_taken_back_with_the_redemption")

MUTANTS: Final = (
    Mutant(
        "the redemption that was told before",
        _SETTLEMENT,
        "settled",
        Node("redemption is not None and redemption.items == settling.items", "False"),
        _ONCE,
    ),
    Mutant(
        "the basket of a redemption that comes again",
        _SETTLEMENT,
        "settled",
        Node("redemption.items == settling.items", "True"),
        _ONCE,
    ),
    Mutant("the release that comes again", _SETTLEMENT, "_released", Node("found.status in _LET_GO", "False"), _ENDED),
    Mutant(
        "the release of what was redeemed",
        _SETTLEMENT,
        "_released",
        Node("found.status != ReservationStatus.HELD", "False"),
        _ONCE,
    ),
    Mutant(
        "what another basket takes beyond what was reserved",
        _SETTLEMENT,
        "_redeemed",
        Node("more != NOTHING", "False"),
        _redeeming("test_more_than_a_limit_leaves_is_refused_and_stays_held"),
    ),
    Mutant(
        "what another basket gives back",
        _SETTLEMENT,
        "_redeemed",
        Node("more.minus(change)", "NOTHING"),
        _redeeming("test_another_price_is_told_first"),
    ),
    Mutant(
        "the use of an offer that is free with the rest", _SETTLEMENT, "rolled_back", Node("int(whole)", "1"), _IN_PARTS
    ),
    Mutant(
        "the key of a rollback",
        _REDEMPTIONS,
        "Redemptions.roll_back",
        Node("await has_rolled_back(connection, redemption, order.key)", "False"),
        _IN_PARTS,
    ),
    Mutant(
        "the lock on the reservation of a rollback",
        _ROWS,
        "_LOCK_BY_KEY",
        Clause("for update"),
        _waits("test_a_rollback_goes_by_the_one_before"),
    ),
    Mutant(
        "the lock on reservations that end",
        _ROWS,
        "_LOCK",
        Clause("for update"),
        _waits("test_a_release_goes_by_the_one_before"),
    ),
    Mutant(
        "the lock on what a member takes of an offer",
        _ROWS,
        "lock_uses",
        Node("await connection.fetch(*_LOCK_TAKERS(**takers))"),
        _waits("test_what_a_member_takes_is_counted_by_one_at_a_time"),
    ),
    Mutant(
        "the holds of a member whose time is over",
        _ROWS,
        "_TAKES",
        Clause("and r.until > ", "and r.until >= "),
        _reserving("test_what_is_overdue_is_there_again_at_once"),
    ),
    Mutant(
        "the points that go back with a redemption",
        _REDEMPTIONS,
        "Redemptions._write_rollback",
        Node("done.less.points", "0"),
        _BACK,
    ),
    Mutant(
        "the award that still waits when points go back",
        _REDEMPTIONS,
        "Redemptions._write_rollback",
        Node("await drop(connection, after.member_id, redemption_key(after.redemption_id), now)", "False"),
        _BACK,
    ),
    Mutant(
        "the look at another basket",
        "abacus/engage/offers/till.py",
        "Till.redeem",
        Node("paying.basket != of.items", "False"),
        _till("test_another_basket_is_looked_at_again"),
    ),
    Mutant(
        "the offer that does not stand beside others",
        _TOGETHER,
        "_check_stacking",
        Node("each.stack.stacking is Stacking.ALONE", "False"),
        _till("test_what_does_not_stand_together_is_not_held"),
    ),
    Mutant(
        "the line that offers taken together do not pass",
        _TOGETHER,
        "uses_of",
        Node("min(shown.saves, left[place])", "shown.saves"),
        _TOGETHER_ONCE,
    ),
    Mutant(
        "the line on which an offer was used",
        _TOGETHER,
        "uses_of",
        Node("(offer.name, place) not in used", "True"),
        _TOGETHER_ONCE,
    ),
    Mutant(
        "what the sweeper gives back",
        "abacus/engage/offers/sweeper.py",
        "ReservationSweeper._sweep",
        Node("await self._pots.give_back(...)"),
        _reserving("test_the_sweeper_lets_go_of_each_once"),
    ),
    Mutant(
        "the pots to which was given",
        _SPENT,
        "WatchedPots.give_back",
        Node("self._touched |= given.keys()"),
        _spent("test_what_comes_back_is_shown_again"),
    ),
    Mutant(
        "the sums of offers that are not of their rows",
        _RECONCILE,
        "_counted",
        Node("any(figures)", "False"),
        _reconciled("the money of a sum"),
    ),
    Mutant(
        "the pots of offers that say too little",
        _RECONCILE,
        "_beyond_their_rows",
        Node("said[place].runs < uses", "False"),
        _reconciled("a pot"),
    ),
)
