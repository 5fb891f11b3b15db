"""Without one check of a partner's limits."""

from typing import Final

from tests.mutants.changes import Node
from tests.mutants.killers import limits
from tests.mutants.mutant import Mutant

_ALLOWANCE: Final = "abacus/ledger/decide/allowance.py"

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
        Node("self.used_that_day + points > limits.per_day", "points > limits.per_day"),
        (limits("a budget to the point"),),
    ),
    Mutant(
        "the budget in all",
        _ALLOWANCE,
        "Allowance.check",
        Node("self.used + points > limits.in_total", "points > limits.in_total"),
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
)
