"""Without one check whether a key is new, in a batch of awards or of movements."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.killers import batch, fate, limits, moving, once, posting
from tests.reliability.mutants.mutant import Mutant

_GATE: Final = "abacus/ledger/decide/duplicates.py"
_BATCH: Final = "abacus/ledger/decide/batch.py"
_MOVING: Final = "abacus/ledger/decide/movement.py"
_ORDERED: Final = "test_what_is_written_stands_in_the_order_in_which_locks_are_taken"

MUTANTS: Final = (
    Mutant(
        "the look whether an award's key is taken",
        _GATE,
        "Gate.first",
        Node("self._before.get(key)", "None"),
        (batch("posted before"),),
    ),
    Mutant(
        "the look whether the batch itself took an award's key",
        _GATE,
        "Gate.first",
        Node("self.entered.get(key)", "None"),
        (batch("twice the same"),),
    ),
    Mutant(
        "passing awards by the gate",
        _BATCH,
        "plan",
        Node("claims.earlier(...)", "None"),
        (batch("posted before"),),
    ),
    Mutant(
        "the comparison of an award's facts",
        _GATE,
        "Gate.earlier",
        Node("first.fingerprint == fingerprint", "True"),
        (batch("posted before for other facts"),),
    ),
    Mutant(
        "the order in which awards' keys are claimed",
        _BATCH,
        "plan",
        Node("sorted(claims.entered.values())", "list(claims.entered.values())"),
        (posting(_ORDERED),),
    ),
    Mutant(
        "the order in which the accounts of awards are locked",
        _BATCH,
        "accounts_touched",
        Node("dict(sorted(touched.items()))", "touched"),
        (posting(_ORDERED),),
    ),
    Mutant(
        "leaving the accounts of known awards alone",
        _BATCH,
        "accounts_touched",
        Node("award.key not in claimed", "True"),
        (posting("test_the_accounts_that_are_locked[taken]"),),
    ),
    Mutant(
        "the rejection that stands for its key",
        _BATCH,
        "plan",
        Node("Gate(standing.rejections)", "Gate({})"),
        (limits("a rejection is final for its key"),),
    ),
    Mutant(
        "the rejection that stands for its key in a batch",
        _BATCH,
        "plan",
        Node("rejections.earlier(...)", "None"),
        (limits("a rejection is final within its batch"),),
    ),
    Mutant(
        "the comparison of a rejected award's facts",
        _BATCH,
        "plan",
        Node("before.same_facts", "True"),
        (limits("a rejection is final for its key"),),
    ),
    Mutant(
        "the look whether a partner's transaction has its award",
        _BATCH,
        "plan",
        Node("_awarded_before(...)", "None"),
        (once("a partner under another key"),),
    ),
    Mutant(
        "claiming a partner's transaction",
        _BATCH,
        "plan",
        Node("claims.enter(also, ...)"),
        (once("the stream after a partner"),),
    ),
    Mutant(
        "the look whether the partner is one",
        _BATCH,
        "plan",
        Node("partner_id not in standing.allowances", "False"),
        ("tests/ledger/test_limits.py::test_a_partner_whom_nobody_registered_awards_nothing[memory]",),
    ),
    Mutant(
        "the check of a partner's limits",
        _BATCH,
        "plan",
        Node("spending.check(...)", "None"),
        (limits("a budget to the point"),),
    ),
    Mutant(
        "counting what a partner's batch has spent",
        _BATCH,
        "plan",
        Node("spending.count(...)"),
        (limits("a budget to the point"),),
    ),
    Mutant(
        "the look whether a movement's key is taken",
        _MOVING,
        "plan_moves",
        Node("claims.earlier(...)", "None"),
        (fate("the same again"),),
    ),
    Mutant(
        "the look whether the batch itself took a movement's key",
        _MOVING,
        "plan_moves",
        Node("claims.enter(...)"),
        (fate("twice in a batch"),),
    ),
    Mutant(
        "the comparison of a movement's facts",
        _MOVING,
        "plan_moves",
        Node("earlier.status", "Status.DUPLICATE"),
        (fate("the key for other facts"),),
    ),
    Mutant(
        "the order in which movements' keys are claimed",
        _MOVING,
        "plan_moves",
        Node("sorted(claims.entered.values())", "list(claims.entered.values())"),
        (moving("test_keys_and_accounts_are_written_in_order"),),
    ),
    Mutant(
        "what the batch itself has done to an account",
        _MOVING,
        "plan_moves",
        Node("books.accounts[id_] = ..."),
        (fate("what a batch itself has spent"),),
    ),
    Mutant(
        "what the batch itself has done to a hold",
        _MOVING,
        "plan_moves",
        Node("books.holds[...] = holds[...] = change.hold", "holds[change.hold.hold_id] = change.hold"),
        (fate("a hold is captured once in a batch"),),
    ),
    Mutant(
        "the look whose hold it is",
        _MOVING,
        "_hold",
        Node("... == account_of(movement)", "True"),
        (fate("another's hold"),),
    ),
    Mutant(
        "the look of which program a hold is",
        _MOVING,
        "_hold",
        Node("account_of(movement)", "(movement.member_id, hold.program)"),
        (fate("a hold of another program"),),
    ),
    Mutant(
        "keeping the reversals of an account apart",
        _MOVING,
        "rounds",
        Node("turn + 1", "turn"),
        (moving("test_rounds"),),
    ),
)
