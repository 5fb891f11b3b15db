"""Without one check of the decisions: what is new, what an account can take, what can be spent."""

from typing import Final

from tests.mutants.changes import Node
from tests.mutants.killers import batch, day, fate, lapse, limits, moving, posting, taken, transfer
from tests.mutants.mutant import Mutant

_GATE: Final = "abacus/ledger/decide/duplicates.py"
_BATCH: Final = "abacus/ledger/decide/batch.py"
_TRANSFER: Final = "abacus/ledger/decide/transfer.py"
_HASHING: Final = "abacus/ledger/decide/chain.py"
_MOVING: Final = "abacus/ledger/decide/movement.py"
_SPEND: Final = "abacus/ledger/decide/spend.py"
_ADJUST: Final = "abacus/ledger/decide/adjust.py"
_PURSE: Final = "abacus/ledger/decide/account_with_lots.py"
_LOTS: Final = "abacus/ledger/decide/lots.py"
_LAPSING: Final = "abacus/ledger/decide/lapsing.py"
_ALLOWANCE: Final = "abacus/ledger/decide/allowance.py"

_ORDERED: Final = "test_what_is_written_stands_in_the_order_in_which_locks_are_taken"
_EXPIRY: Final = "test_expiry_after"
_CHAIN: Final = "test_whoever_seals_a_changed_transfer_again_breaks_the_next"
_CHANGED: Final = "test_a_changed_field_breaks_the_chain"

MUTANTS: Final = (
    # What is new.
    Mutant(
        "the look whether an award's key is taken",
        _GATE,
        "Gate.earlier",
        Node("self._before.get(key)", "None"),
        (batch("posted before"),),
    ),
    Mutant(
        "the look whether the batch itself took an award's key",
        _GATE,
        "Gate.earlier",
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
        Node("spending.spend(...)"),
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
    # What an account can take.
    Mutant(
        "the check that an award takes nothing",
        _TRANSFER,
        "apply",
        Node("award.points < 0", "False"),
        (transfer("test_what_an_account_can_take"),),
    ),
    Mutant(
        "the check that an award is one",
        _TRANSFER,
        "apply",
        Node("award.kind is not _EARN", "False"),
        (transfer("test_an_award_earns"),),
    ),
    Mutant(
        "the largest balance, when an award is posted",
        _TRANSFER,
        "apply",
        Node("balance > MAX_BALANCE", "False"),
        (transfer("test_what_an_account_can_take"),),
    ),
    Mutant(
        "the largest balance, when points are moved",
        _TRANSFER,
        "moved",
        Node("-MAX_BALANCE <= balance <= MAX_BALANCE", "-MAX_BALANCE <= balance"),
        (transfer("test_how_far_a_balance_goes"),),
    ),
    Mutant(
        "the smallest balance, when points are moved",
        _TRANSFER,
        "moved",
        Node("-MAX_BALANCE <= balance <= MAX_BALANCE", "balance <= MAX_BALANCE"),
        (transfer("test_how_far_a_balance_goes"),),
    ),
    Mutant(
        "the rule that a late transaction takes no day back",
        _TRANSFER,
        "expiry_after",
        Node("max(current, proposed)", "proposed"),
        (transfer(_EXPIRY),),
    ),
    Mutant(
        "the rule that a gift moves no day",
        _TRANSFER,
        "expiry_after",
        Node("activity", "True"),
        (transfer(_EXPIRY),),
    ),
    Mutant(
        "what is held, in what is available",
        "abacus/ledger/types/account.py",
        "Account.available",
        Node("self.balance - self.held", "self.balance"),
        (fate("what is held cannot be spent"),),
    ),
    Mutant(
        "the hash before, in a hash",
        _HASHING,
        "chain",
        Node("previous", 'b""'),
        (transfer(_CHAIN),),
    ),
    Mutant(
        "the facts, in a hash",
        _HASHING,
        "_with_source",
        Node("orjson.dumps(facts)", 'b""'),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "the explanation, in a hash",
        _HASHING,
        "_with_source",
        Node("explanation", 'b""'),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "what is taken back, in a hash",
        _HASHING,
        "_with_source",
        Node("reverses", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "who did it, in a hash",
        _HASHING,
        "_with_source",
        Node("actor", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "where the points came from, in a hash",
        _HASHING,
        "_with_source",
        Node("source", "None"),
        (transfer(_CHANGED),),
    ),
    # What can be spent, held, captured, released, adjusted.
    Mutant(
        "the look whether enough is there to spend",
        _SPEND,
        "spend",
        Node("check_available(...)"),
        (fate("a point more than there is"),),
    ),
    Mutant(
        "the look whether enough is there to hold",
        _SPEND,
        "reserve",
        Node("check_available(...)"),
        (fate("more than there is is not held"),),
    ),
    Mutant(
        "the look whether enough is there to adjust",
        _ADJUST,
        "adjust",
        Node("check_available(...)"),
        (fate("adjusted below zero"),),
    ),
    Mutant(
        "the look whether there is such a hold",
        _SPEND,
        "_open",
        Node("held is None", "False"),
        (fate("no hold at all"),),
    ),
    Mutant(
        "the look whether a hold is open",
        _SPEND,
        "_open",
        Node("held.status is not HoldStatus.OPEN", "False"),
        (fate("a hold is captured once"),),
    ),
    Mutant(
        "the time until which a hold can be captured",
        _SPEND,
        "capture",
        Node("hold.until <= now", "hold.until < now"),
        (fate("captured too late"),),
    ),
    Mutant(
        "the look whether a hold is over",
        _SPEND,
        "release",
        Node("... and hold.until > now", "False"),
        (fate("not over yet"),),
    ),
    Mutant(
        "the size of a hold",
        _SPEND,
        "capture",
        Node("points > hold.points", "False"),
        (fate("more than is held is not captured"),),
    ),
    Mutant(
        "setting free what was held, with its capture",
        _SPEND,
        "capture",
        Node(
            "_entry(Kind.SPEND, movement, explanation, now, held=-hold.points)",
            "_entry(Kind.SPEND, movement, explanation, now, held=-points)",
        ),
        (fate("a hold is captured in part, and the rest is free"),),
    ),
    Mutant(
        "settling a hold with its capture",
        _SPEND,
        "capture",
        Node("hold._replace(...)", "hold._replace(settled_seq=change.transfer.seq)"),
        (fate("a hold is captured once"),),
    ),
    Mutant(
        "settling a hold with its release",
        _SPEND,
        "release",
        Node("hold._replace(...)", "hold._replace(settled_seq=change.transfer.seq)"),
        (fate("released once"),),
    ),
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
        (lapse("test_what_is_available_lapses"),),
    ),
    Mutant(
        "the rule that what is given back keeps nothing alive",
        _PURSE,
        "put",
        Node("expiry_after(day, good_until, activity=False)", "expiry_after(day, good_until, activity=True)"),
        (moving("test_what_is_added_moves_no_day"),),
    ),
    Mutant(
        "the debt that what is given back pays first",
        _PURSE,
        "put",
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
    # What lapses.
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
        Node(
            "take(before, account.available, _entry(end, posted_at, explanation))",
            "take(before, account.balance, _entry(end, posted_at, explanation))",
        ),
        (lapse("test_what_is_held_stays_with_its_date"),),
    ),
    Mutant(
        "keeping what is held of lots from lapsing",
        _LAPSING,
        "_lapse_lots",
        Node("account.available", "account.balance"),
        (day("what is held keeps its day"),),
    ),
    Mutant(
        "the day of each lot",
        _LAPSING,
        "_lapse_lots",
        Node("day <= end.last_day", "True"),
        (day("the next lot's, when the first has lapsed"),),
    ),
    # What a partner may award.
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
