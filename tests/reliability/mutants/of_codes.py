"""Without one look or mark by which a single code is used once, and is free again with its reservation."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_TILL: Final = "abacus/engage/offers/till.py"
_CODES: Final = "abacus/engage/offers/codes"
_USES: Final = f"{_CODES}/code_uses.py"
_SHELF: Final = f"{_CODES}/shelf.py"
_SWEEPER: Final = f"{_CODES}/code_sweeper.py"
_SINGLE: Final = "abacus/engage/offers/decide/single_code.py"
_RECONCILE: Final = "abacus/oversight/reconcile/offer_codes.py"


def _codes(test: str) -> tuple[str]:
    return (f"tests/engage/offers/test_single_codes.py::{test}",)


_ONCE: Final = _codes("test_a_code_is_used_once")
_FREE: Final = _codes("test_a_code_is_free_again_with_its_reservation")
_REFUSED: Final = _codes("test_refused")
_WITHOUT: Final = _codes("test_a_reservation_without_its_code_is_not_redeemed")

MUTANTS: Final = (
    Mutant(
        "the reservation that has a code, of which another wants it",
        _SHELF,
        "CodeShelf._take_round",
        Node("holder is None or holder in ended", "True"),
        _codes("test_several_take_a_code_each_or_nothing"),
    ),
    Mutant(
        "the code that a reservation has taken before",
        _SHELF,
        "CodeShelf._take",
        Node("holder != id_", "True"),
        _ONCE,
    ),
    Mutant(
        "the look for the code before it is redeemed",
        _TILL,
        "Till.redeem",
        Node("not await self._has_its_code(of)", "False"),
        _WITHOUT,
    ),
    Mutant(
        "the reservation that is given up without its code",
        _TILL,
        "Till._take_codes",
        Node("await self._settled(Releasing(of.reservation_id, of.caller, refused=True))"),
        _codes("test_several_take_a_code_each_or_nothing"),
    ),
    Mutant(
        "the reservations whose code is asked after at their end",
        _USES,
        "Holders.ended",
        Node("has_ended(each)", "False"),
        _FREE,
    ),
    Mutant(
        "letting go of what is overdue before its code",
        _USES,
        "Holders.ended",
        Node("await self._let_go(sorted(overdue))"),
        _FREE,
    ),
    Mutant(
        "the codes that are opened again by a rollback",
        _TILL,
        "Till.roll_back",
        Node("await self._codes.reopen(of)"),
        _FREE,
    ),
    Mutant(
        "the codes that are opened again where a person rolls back",
        "abacus/engage/offers/returns.py",
        "OfferReturns.roll_back",
        Node("await reopen(...)"),
        _codes("test_a_code_is_free_again_when_a_person_has_rolled_back"),
    ),
    Mutant(
        "the time for a rollback before others look at its code",
        _USES,
        "reopen",
        Node("now + _ROLLED_BACK_WITHIN", "now"),
        _codes("test_a_code_is_free_again_if_it_is_looked_at_amid_the_rollback"),
    ),
    Mutant(
        "the mark of a code that is used",
        _SWEEPER,
        "CodeSweeper._settle",
        Node("of.status == ReservationStatus.REDEEMED", "False"),
        _ONCE,
    ),
    Mutant("the codes of a batch that was withdrawn", _SHELF, "_FIND", Clause("and b.withdrawn_at is null"), _REFUSED),
    Mutant(
        "the code for each use of an offer",
        _SINGLE,
        "codes_for",
        Node("left[place] = []"),
        ("tests/engage/offers/test_single_code.py::test_each_use_has_a_code_of_its_own",),
    ),
    Mutant(
        "the codes whose use nobody has noted yet",
        _RECONCILE,
        "compared_codes",
        Node("await slices.sums(connection, _JUST_USED(ids=held), facts=1)", "()"),
        ("tests/oversight/reconcile/test_offer_codes.py::test_what_does_not_come_out_is_named",),
    ),
)
