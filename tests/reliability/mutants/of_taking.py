"""Without one look, lock or sum that keeps offers to what was told, and to being taken once."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_RESERVATIONS: Final = "abacus/engage/offers/reservations.py"
_ROWS: Final = "abacus/engage/offers/reservation_rows.py"
_SETTLEMENT: Final = "abacus/engage/offers/decide/settlement.py"
_GRANT: Final = "abacus/engage/offers/decide/grant.py"
_POTS: Final = "abacus/engage/limits/pot_store.py"


def _reserving(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_reservations.py::{test}",)


def _redeeming(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_redemptions.py::{test}",)


_BY_32: Final = _reserving("test_not_one_too_many_by_32_callers_of_several_processes")

MUTANTS: Final = (
    Mutant(
        "the look at the keys of offers that were held before",
        _RESERVATIONS,
        "_as_before",
        Node("known[wish.key].fingerprint != wish.fingerprint", "False"),
        _reserving("test_a_key_holds_once_and_its_first_answer_is_given_again"),
    ),
    Mutant(
        "the second look at keys of offers",
        _RESERVATIONS,
        "Reservations._work",
        Node("await of_keys(connection, [wish.key for group in new.values() for wish in group])", "False"),
        _BY_32,
    ),
    Mutant(
        "the limits of a member on offers",
        _GRANT,
        "_Batch._against",
        Node("taken.counts_by_member", "False"),
        _reserving("test_limits_hold"),
    ),
    Mutant(
        "what is given back where one of several offers is refused",
        _GRANT,
        "_Batch.refusal",
        Node("self._take(granted, NOTHING.minus(granted.amounts))"),
        _reserving("test_several_are_held_together_or_none_is"),
    ),
    Mutant(
        "the time until which an offer is held",
        "abacus/engage/offers/decide/reservation.py",
        "Reservation.open_at",
        Node("now < self.until", "True"),
        _redeeming("test_what_is_released_or_overdue_is_not_redeemed"),
    ),
    Mutant(
        "the gain of an offer that has changed",
        _SETTLEMENT,
        "_redeemed",
        Node("settling.gain != (settling.accepted or reserved)", "False"),
        _redeeming("test_another_price_is_told_first"),
    ),
    Mutant(
        "the caller who holds an offer",
        _SETTLEMENT,
        "settled",
        Node("found.caller != settling.caller", "False"),
        _redeeming("test_nobody_settles_what_another_holds"),
    ),
    Mutant(
        "what was rolled back of an offer before",
        _SETTLEMENT,
        "rolled_back",
        Node("back > left", "False"),
        _redeeming("test_a_redemption_is_rolled_back_in_parts_and_whole"),
    ),
    Mutant(
        "the redemption that is all rolled back",
        _SETTLEMENT,
        "is_over",
        Node("found.status == ReservationStatus.ROLLED_BACK", "False"),
        _redeeming("test_a_redemption_is_rolled_back_in_parts_and_whole"),
    ),
    Mutant(
        "what goes back to the pots of an offer",
        _POTS,
        "PotStore.give_back",
        Node("await connection.execute(*GIVE_BACK(**arrays(SlotRow, rows)))"),
        _redeeming("test_what_is_released_or_overdue_is_not_redeemed"),
    ),
    Mutant(
        "how long an exhausted offer is remembered",
        _POTS,
        "PotStore._remembered",
        Node("now < rest.good_until", "True"),
        _reserving("test_what_is_overdue_is_there_again_at_once"),
    ),
    Mutant(
        "the sweeper's look at the time",
        _ROWS,
        "_EXPIRE",
        Clause("and until <= :now", "and :now::timestamptz is not null"),
        _reserving("test_the_sweeper_lets_go_of_each_once"),
    ),
)
