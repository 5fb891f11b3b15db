"""Without one check of a partner's limits."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.killers import alone, counts, limits, second
from tests.reliability.mutants.mutant import Mutant

_ALLOWANCE: Final = "abacus/ledger/decide/allowance.py"
_COUNTING: Final = "abacus/ledger/decide/partner_spending.py"

MUTANTS: Final = (
    Mutant(
        "the cap on each award",
        _ALLOWANCE,
        "Allowance.check",
        Node("points > limits.per_award", "False"),
        (limits("a cap on each award"),),
    ),
    Mutant(
        "the cap on a member's day",
        _ALLOWANCE,
        "Allowance.check",
        Node("member_used + points > limits.per_member_day", "points > limits.per_member_day"),
        (limits("a member's day"),),
    ),
    Mutant(
        "the budget of a day",
        _ALLOWANCE,
        "Allowance.check",
        Node("self.gone_that_day + points > limits.per_day", "points > limits.per_day"),
        (limits("a budget to the point"),),
    ),
    Mutant(
        "the budget in all",
        _ALLOWANCE,
        "Allowance.check",
        Node("self.gone + points > limits.in_total", "points > limits.in_total"),
        (limits("a budget in all"),),
    ),
    Mutant(
        "the rule that no day comes back",
        _ALLOWANCE,
        "Allowance.on",
        Node("day <= self.day", "day == self.day"),
        ("tests/ledger/test_limits.py::test_a_day_begins_anew_and_never_comes_back[-1]",),
    ),
    Mutant(
        "the rule that a day begins anew",
        _ALLOWANCE,
        "Allowance.on",
        Node("self._replace(...)", "self"),
        ("tests/ledger/test_limits.py::test_a_day_begins_anew_and_never_comes_back[1]",),
    ),
    Mutant(
        "the lock on what an actor moves alone",
        "abacus/ledger/store/alone.py",
        "_LOCK",
        Clause("pg_advisory_xact_lock(lock)", "lock"),
        (second("an adjustment waits for another of its actor"),),
    ),
    Mutant(
        "the sum of what is moved alone",
        "abacus/ledger/decide/alone.py",
        "MovedAlone.check",
        Node("before + points > most", "points > most"),
        (alone("in parts of several batches"),),
    ),
    Mutant(
        "counting adjustments",
        _COUNTING,
        "partner_counted",
        Node("Adjustment | Reversal", "Reversal"),
        (counts("a cap on each"),),
    ),
    Mutant(
        "counting what reversals give back",
        _COUNTING,
        "partner_counted",
        Node("Adjustment | Reversal", "Adjustment"),
        (counts("a spend that is given back"),),
    ),
    Mutant(
        "the look whether points are added",
        _COUNTING,
        "count",
        Node("change.transfer.points > 0", "True"),
        (counts("what is taken counts for nothing"),),
    ),
    Mutant(
        "giving back only for the partner's own awards",
        _COUNTING,
        "_is_its_award",
        Node("partner_of(transfer.known_source) == partner_id", "True"),
        (counts("another's award, taken back"),),
    ),
    Mutant(
        "giving back only for awards",
        _COUNTING,
        "_is_its_award",
        Node("transfer.kind == TransferKind.EARN", "True"),
        (counts("its own adjustment, taken back"),),
    ),
    Mutant(
        "giving back only what is still there",
        _COUNTING,
        "count",
        Node("sum(...)", "-change.transfer.points"),
        (counts("its own award, spent before it is taken back"),),
    ),
    Mutant(
        "the days that are over, when an allowance is given back",
        _ALLOWANCE,
        "Allowance.given_back",
        Node("day == self.day", "True"),
        ("tests/ledger/test_partner_spending.py::test_an_award_of_yesterday_gives_nothing_back_today",),
    ),
    Mutant(
        "the end of giving back",
        _ALLOWANCE,
        "Allowance.given_back",
        Node("max(0, self.used - points)", "self.used - points"),
        ("tests/ledger/test_partner_spending.py::test_an_allowance_never_falls_below_nothing",),
    ),
)
