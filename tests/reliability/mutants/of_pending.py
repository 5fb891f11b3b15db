"""Without one rule of points that vest later, or of what points pay at a till."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.killers import lapse, pending
from tests.reliability.mutants.mutant import Mutant

_PENDING: Final = "abacus/ledger/decide/pending.py"
_CHAIN: Final = "abacus/ledger/decide/chain.py"
_FOLLOWER: Final = "abacus/proof/decide/account_chain.py"
_TILL: Final = "abacus/intake/partners/decide/till.py"
_VALUE: Final = "abacus/pricing/decide/point_value.py"

_PROVEN: Final = "tests/proof/test_account_chain.py::test_pending_points_are_compared"
_NAMED: Final = "tests/intake/partners/test_till.py::test_the_money_that_a_spend_names"
_TABLES: Final = "tests/pricing/test_point_value.py"

MUTANTS: Final = (
    Mutant(
        "what is pending, in what is available",
        "abacus/ledger/types/account.py",
        "Account.available",
        Node("self.balance - self.held - self.pending", "self.balance - self.held"),
        (pending("it is seen and not available"),),
    ),
    Mutant(
        "the day on which points vest",
        _PENDING,
        "with_pending",
        Node("at is None or at <= now", "at is None"),
        (pending("its day has begun"),),
    ),
    Mutant(
        "the points of a day before",
        _PENDING,
        "with_pending",
        Node("pending.get(begins, 0) + points", "points"),
        (pending("two of one day"),),
    ),
    Mutant(
        "what is pending of an award, before what is available",
        "abacus/ledger/decide/reversal.py",
        "_take_back",
        Node("without(before.account, transfer.vests_at, pending)", "before.account"),
        (pending("it is taken back whole though all else is spent"),),
    ),
    Mutant(
        "the part of a day that is taken back",
        _PENDING,
        "without",
        Node("pending.get(begins, 0) - points", "0"),
        (pending("a part is taken back"),),
    ),
    Mutant(
        "the account as it is when its points are moved",
        "abacus/ledger/decide/movement.py",
        "plan_moves",
        Node("vested(before.account, now)", "before.account"),
        ("tests/ledger/test_pending.py::test_points_vest_with_the_clock",),
    ),
    Mutant(
        "keeping what is pending of lots from lapsing",
        "abacus/ledger/decide/lapse.py",
        "_lapse_lots",
        Node("min(free, each.left - resting)", "each.left - resting"),
        (lapse("test_pending_points_of_lots_stay"),),
    ),
    Mutant(
        "the format that covers the day of vesting",
        _CHAIN,
        "chain",
        Node("body[_VESTS_AT] is not None or body[_VESTS_ON] is not None", "False"),
        ("tests/ledger/test_transfer.py::test_a_changed_field_breaks_the_chain[vests_at-last]",),
    ),
    Mutant(
        "the comparison of pending points with the transfers",
        _FOLLOWER,
        "Follower._finish_vesting",
        Node("points != followed and (points or begins > over)", "False"),
        (f"{_PROVEN}[more than there came]",),
    ),
    Mutant(
        "the look whether a day has begun since",
        _FOLLOWER,
        "Follower._finish_vesting",
        Node("points or begins > over", "True"),
        ("tests/proof/test_account_chain.py::test_pending_points_whose_day_has_begun_are_gone",),
    ),
    Mutant(
        "the look whether the points pay the money that a spend names",
        _TILL,
        "tender_of",
        Node("Decimal(money) != worth", "False"),
        (_NAMED,),
    ),
    Mutant(
        "rounding what points pay down",
        _VALUE,
        "worth_at_till",
        Node("floor(...)", "ceil(Fraction(value.money) * points / Fraction(value.step))"),
        (f"{_TABLES}::test_these_points_pay",),
    ),
    Mutant(
        "the money that points may pay at most",
        _VALUE,
        "paid_towards",
        Node("ceil(beyond / Fraction(value.money)) - 1", "ceil(beyond / Fraction(value.money))"),
        (f"{_TABLES}::test_this_money_is_paid_by",),
    ),
    Mutant(
        "what was given back before",
        _VALUE,
        "given_back",
        Node("points - points_before", "points"),
        (f"{_TABLES}::test_a_refund_gives_back_both_in_proportion",),
    ),
)
