"""Without one check of lots, of their days, or of points that lapse."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.killers import day, lapse, moving, taken
from tests.reliability.mutants.mutant import Mutant

_PURSE: Final = "abacus/ledger/decide/account_with_lots.py"
_LOTS: Final = "abacus/ledger/decide/lots.py"
_LAPSING: Final = "abacus/ledger/decide/lapse.py"

MUTANTS: Final = (
    # Lots and days.
    Mutant(
        "writing down what was taken of a lot by name",
        _PURSE,
        "take",
        Node("draws", "()"),
        (taken("its own lot first"),),
    ),
    Mutant(
        "leaving out of the oldest what was taken by name",
        _PURSE,
        "take",
        Node("points - sum(by_name.values())", "points"),
        (taken("its own lot first"),),
    ),
    Mutant(
        "the first day of what stays",
        _PURSE,
        "take",
        Node("each.left - by_name.get(...)", "each.left"),
        (day("the next lot's, when the first has lapsed"),),
    ),
    Mutant(
        "forgetting the day of what is empty",
        _PURSE,
        "_day_after_taking",
        Node("account.balance <= points", "account.balance < points"),
        (moving("test_an_account_that_is_emptied_has_no_day"),),
    ),
    Mutant(
        "forgetting the day of what has lapsed",
        _LAPSING,
        "_lapse_whole",
        Node("day if staying else None", "day"),
        (lapse("test_what_is_available_lapses"),),
    ),
    Mutant(
        "the rule that what is given back keeps nothing alive",
        _PURSE,
        "put",
        Node(
            "expiry_after(account, good_until, entry.posted_at, activity=False)",
            "expiry_after(account, good_until, entry.posted_at, activity=True)",
        ),
        (moving("test_what_is_added_moves_no_day"),),
    ),
    Mutant(
        "the debt that what is given back pays first",
        _PURSE,
        "_put_lot",
        Node("min(points, after.balance)", "points"),
        (moving("test_what_is_added_pays_a_debt_first"),),
    ),
    Mutant(
        "what was taken of a lot by name, in its capacity",
        _LOTS,
        "Lot.capacity",
        Node("self.points - self.drawn", "self.points"),
        (taken("a refund's share is rounded down"),),
    ),
    # Points that lapse.
    Mutant(
        "the look whether the member was active again",
        _LAPSING,
        "lapse",
        Node("day > end.last_day", "False"),
        (lapse("test_what_does_not_lapse[active again]"),),
    ),
    Mutant(
        "the look whether there is anything to lapse",
        _LAPSING,
        "lapse",
        Node("account.available <= 0", "False"),
        (lapse("test_what_does_not_lapse"),),
    ),
    Mutant(
        "keeping what is held from lapsing",
        _LAPSING,
        "_lapse_whole",
        Node("held + pending", "pending"),
        (lapse("test_what_is_held_stays_with_its_date"),),
    ),
    Mutant(
        "keeping what is held of lots from lapsing",
        _LAPSING,
        "_lapse_lots",
        Node("min(each.left, held)", "0"),
        (day("what is held rests on the oldest"),),
    ),
    Mutant(
        "the day that an emptied account remembers for what is put back",
        _PURSE,
        "put_back",
        Node("account.active_until", "None"),
        (moving("test_what_is_put_back_keeps_the_accounts_day"),),
    ),
    Mutant(
        "the day of the lots that points were taken from",
        "abacus/ledger/decide/reversal.py",
        "_give_back",
        Node("original.good_until", "None"),
        (day("what is given back keeps its lot's"),),
    ),
    Mutant(
        "the day of each lot",
        _LAPSING,
        "_lapse_lots",
        Node("day <= end.last_day", "True"),
        (day("the next lot's, when the first has lapsed"),),
    ),
)
