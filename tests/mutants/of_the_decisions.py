"""Without one check of the decisions: what is new, what an account can take, what can be spent."""

from typing import Final

from tests.mutants.killers import batch, day, fate, lapse, limits, moving, posting, taken, transfer
from tests.mutants.mutant import Mutant

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
        _BATCH,
        "earlier = claimed.get(key) or claims.get(key)",
        "earlier = claims.get(key)",
        (batch("posted before"),),
    ),
    Mutant(
        "the look whether the batch itself took an award's key",
        _BATCH,
        "earlier = claimed.get(key) or claims.get(key)",
        "earlier = claimed.get(key)",
        (batch("twice the same"),),
    ),
    Mutant(
        "the comparison of an award's facts",
        _BATCH,
        "Status.DUPLICATE if earlier.fingerprint == award.fingerprint else Status.CONFLICT",
        "Status.DUPLICATE",
        (batch("posted before for other facts"),),
    ),
    Mutant(
        "the order in which awards' keys are claimed",
        _BATCH,
        "sorted(claims.values()), changed",
        "list(claims.values()), changed",
        (posting(_ORDERED),),
    ),
    Mutant(
        "the order in which the accounts of awards are locked",
        _BATCH,
        "return dict(sorted(touched.items()))",
        "return touched",
        (posting(_ORDERED),),
    ),
    Mutant(
        "leaving the accounts of known awards alone",
        _BATCH,
        "        if award.key not in claimed:\n            touched",
        "        if True:\n            touched",
        (posting("test_the_accounts_that_are_locked[taken]"),),
    ),
    Mutant(
        "the rejection that stands for its key",
        _BATCH,
        "standing.rejections.get(key) or rejected.get(key)",
        "rejected.get(key)",
        (limits("a rejection is final for its key"),),
    ),
    Mutant(
        "the rejection that stands for its key in a batch",
        _BATCH,
        "standing.rejections.get(key) or rejected.get(key)",
        "standing.rejections.get(key)",
        (limits("a rejection is final within its batch"),),
    ),
    Mutant(
        "the comparison of a rejected award's facts",
        _BATCH,
        "Status.REJECTED if rejection.fingerprint == award.fingerprint else Status.CONFLICT",
        "Status.REJECTED",
        (limits("a rejection is final for its key"),),
    ),
    Mutant(
        "the check of a partner's limits",
        _BATCH,
        "earlier_rejection or spending.check(partner_id, award)",
        "earlier_rejection",
        (limits("a budget to the point"),),
    ),
    Mutant(
        "counting what a partner's batch has spent",
        _BATCH,
        "            spending.spend(partner_id, award)\n",
        "            pass\n",
        (limits("a budget to the point"),),
    ),
    Mutant(
        "the look whether a movement's key is taken",
        _MOVING,
        "claimed.get(movement.key) or claims.get(movement.key)",
        "claims.get(movement.key)",
        (fate("the same again"),),
    ),
    Mutant(
        "the look whether the batch itself took a movement's key",
        _MOVING,
        "claimed.get(movement.key) or claims.get(movement.key)",
        "claimed.get(movement.key)",
        (fate("twice in a batch"),),
    ),
    Mutant(
        "the comparison of a movement's facts",
        _MOVING,
        "Status.DUPLICATE if earlier.fingerprint == movement.fingerprint else Status.CONFLICT",
        "Status.DUPLICATE",
        (fate("the key for other facts"),),
    ),
    Mutant(
        "the order in which movements' keys are claimed",
        _MOVING,
        "sorted(claims.values()), accounts",
        "list(claims.values()), accounts",
        (moving("test_keys_and_accounts_are_written_in_order"),),
    ),
    Mutant(
        "what the batch itself has done to an account",
        _MOVING,
        "        books.purses[id_] = change.purse\n",
        "",
        (fate("what a batch itself has spent"),),
    ),
    Mutant(
        "what the batch itself has done to a hold",
        _MOVING,
        "books.holds[change.hold.hold_id] = holds[change.hold.hold_id] = change.hold",
        "holds[change.hold.hold_id] = change.hold",
        (fate("a hold is captured once in a batch"),),
    ),
    Mutant(
        "the look whose hold it is",
        _MOVING,
        "return found if found is not None and (found.member_id, found.program) == account_of(movement) else None",
        "return found",
        (fate("another's hold"),),
    ),
    Mutant(
        "the look of which program a hold is",
        _MOVING,
        "(found.member_id, found.program) == account_of(movement)",
        "found.member_id == movement.member_id",
        (fate("a hold of another program"),),
    ),
    Mutant(
        "keeping the reversals of an account apart",
        _MOVING,
        "seen[account_of(movement)] = turn + 1",
        "seen[account_of(movement)] = turn",
        (moving("test_rounds"),),
    ),
    # What an account can take.
    Mutant(
        "the check that an award takes nothing",
        _TRANSFER,
        "if award.kind is not _EARN or award.points < 0:",
        "if award.kind is not _EARN:",
        (transfer("test_what_an_account_can_take"),),
    ),
    Mutant(
        "the check that an award is one",
        _TRANSFER,
        "if award.kind is not _EARN or award.points < 0:",
        "if award.points < 0:",
        (transfer("test_an_award_earns"),),
    ),
    Mutant(
        "the largest balance, when an award is posted",
        _TRANSFER,
        "if balance > MAX_BALANCE:",
        "if balance > 2 * MAX_BALANCE:",
        (transfer("test_what_an_account_can_take"),),
    ),
    Mutant(
        "the largest balance, when points are moved",
        _TRANSFER,
        "if not -MAX_BALANCE <= balance <= MAX_BALANCE:",
        "if not -MAX_BALANCE <= balance:",
        (transfer("test_how_far_a_balance_goes"),),
    ),
    Mutant(
        "the smallest balance, when points are moved",
        _TRANSFER,
        "if not -MAX_BALANCE <= balance <= MAX_BALANCE:",
        "if not balance <= MAX_BALANCE:",
        (transfer("test_how_far_a_balance_goes"),),
    ),
    Mutant(
        "the rule that a late transaction takes no day back",
        _TRANSFER,
        "return max(current, proposed) if activity else current",
        "return proposed if activity else current",
        (transfer(_EXPIRY),),
    ),
    Mutant(
        "the rule that a gift moves no day",
        _TRANSFER,
        "return max(current, proposed) if activity else current",
        "return max(current, proposed)",
        (transfer(_EXPIRY),),
    ),
    Mutant(
        "what is held, in what is available",
        "abacus/ledger/types/account.py",
        "return self.balance - self.held",
        "return self.balance",
        (fate("what is held cannot be spent"),),
    ),
    Mutant(
        "the hash before, in a hash",
        _HASHING,
        "hashlib.sha256(previous + text_of(body))",
        "hashlib.sha256(text_of(body))",
        (transfer(_CHAIN),),
    ),
    Mutant(
        "the facts, in a hash",
        _HASHING,
        "        source,\n        format_,\n    ]\n    return orjson.dumps(facts) + explanation",
        "    ]\n    return explanation",
        (transfer(_CHANGED),),
    ),
    Mutant(
        "the explanation, in a hash",
        _HASHING,
        "        source,\n        format_,\n    ]\n    return orjson.dumps(facts) + explanation",
        "        source,\n        format_,\n    ]\n    return orjson.dumps(facts)",
        (transfer(_CHANGED),),
    ),
    Mutant(
        "what is taken back, in a hash",
        _HASHING,
        "        reverses,\n        actor,\n        source,\n        format_,\n    ]",
        "        actor,\n        source,\n        format_,\n    ]",
        (transfer(_CHANGED),),
    ),
    Mutant(
        "who did it, in a hash",
        _HASHING,
        "        reverses,\n        actor,\n        source,\n        format_,\n    ]",
        "        reverses,\n        source,\n        format_,\n    ]",
        (transfer(_CHANGED),),
    ),
    Mutant(
        "where the points came from, in a hash",
        _HASHING,
        "        actor,\n        source,\n        format_,\n    ]",
        "        actor,\n        format_,\n    ]",
        (transfer(_CHANGED),),
    ),
    # What can be spent, held, captured, released, adjusted.
    Mutant(
        "the look whether enough is there to spend",
        _SPEND,
        "    check_available(purse.account, asked.points)\n",
        "",
        (fate("a point more than there is"),),
    ),
    Mutant(
        "the look whether enough is there to hold",
        _SPEND,
        "    check_available(account, asked.points)\n",
        "",
        (fate("more than there is is not held"),),
    ),
    Mutant(
        "the look whether enough is there to adjust",
        _ADJUST,
        "    check_available(purse.account, -asked.points)\n",
        "",
        (fate("adjusted below zero"),),
    ),
    Mutant(
        "the look whether there is such a hold",
        _SPEND,
        "    if held is None:\n        raise Declined",
        "    if held == 0:\n        raise Declined",
        (fate("no hold at all"),),
    ),
    Mutant(
        "the look whether a hold is open",
        _SPEND,
        "if held.status is not HoldStatus.OPEN:",
        "if not held.status:",
        (fate("a hold is captured once"),),
    ),
    Mutant(
        "the time until which a hold can be captured",
        _SPEND,
        "if found.until <= now:",
        "if found.until < now:",
        (fate("captured too late"),),
    ),
    Mutant(
        "the look whether a hold is over",
        _SPEND,
        "if asked.because is Because.EXPIRED and found.until > now:",
        "if asked.because is not asked.because:",
        (fate("not over yet"),),
    ),
    Mutant(
        "the size of a hold",
        _SPEND,
        "if points > found.points:",
        "if points > 2 * found.points:",
        (fate("more than is held is not captured"),),
    ),
    Mutant(
        "setting free what was held, with its capture",
        _SPEND,
        "take(purse, points, _entry(Kind.SPEND, asked, explanation, now, held=-found.points))",
        "take(purse, points, _entry(Kind.SPEND, asked, explanation, now, held=-points))",
        (fate("a hold is captured in part, and the rest is free"),),
    ),
    Mutant(
        "settling a hold with its capture",
        _SPEND,
        "status=HoldStatus.CAPTURED, settled_seq",
        "settled_seq",
        (fate("a hold is captured once"),),
    ),
    Mutant(
        "settling a hold with its release",
        _SPEND,
        "status=HoldStatus(asked.because), settled_seq",
        "settled_seq",
        (fate("released once"),),
    ),
    # Lots and days.
    Mutant(
        "writing down what was taken of a lot by name",
        _PURSE,
        "tuple(staying)), transfer, draws)",
        "tuple(staying)), transfer)",
        (taken("its own lot first"),),
    ),
    Mutant(
        "leaving out of the oldest what was taken by name",
        _PURSE,
        "from_oldest = points - sum(by_name.values())",
        "from_oldest = points",
        (taken("its own lot first"),),
    ),
    Mutant(
        "the first day of what stays",
        _PURSE,
        "each._replace(left=each.left - by_name.get(each.lot.seq, 0))",
        "each._replace(left=each.left)",
        (day("the next lot's, when the first has lapsed"),),
    ),
    Mutant(
        "forgetting the day of what is empty",
        _PURSE,
        "    if account.balance <= points:\n        return None  #",
        "    if account.balance < points:\n        return None  #",
        (lapse("test_what_is_available_lapses"),),
    ),
    Mutant(
        "the rule that what is given back keeps nothing alive",
        _PURSE,
        "expiry_after(day, good_until, activity=False)",
        "expiry_after(day, good_until, activity=True)",
        (moving("test_what_is_added_moves_no_day"),),
    ),
    Mutant(
        "the debt that what is given back pays first",
        _PURSE,
        "left = min(points, after.balance)",
        "left = points",
        (moving("test_what_is_added_pays_a_debt_first"),),
    ),
    Mutant(
        "what was taken of a lot by name, in its capacity",
        _LOTS,
        "return self.points - self.drawn",
        "return self.points",
        (taken("a refund's share is rounded down"),),
    ),
    # What lapses.
    Mutant(
        "the look whether the member was active again",
        _LAPSING,
        "account.expires_on > end.last_day or ",
        "",
        (lapse("test_what_does_not_lapse[active again]"),),
    ),
    Mutant(
        "the look whether there is anything to lapse",
        _LAPSING,
        " or account.available <= 0:",
        ":",
        (lapse("test_what_does_not_lapse"),),
    ),
    Mutant(
        "keeping what is held from lapsing",
        _LAPSING,
        "change = take(purse, account.available, ",
        "change = take(purse, account.balance, ",
        (lapse("test_what_is_held_stays_with_its_date"),),
    ),
    Mutant(
        "keeping what is held of lots from lapsing",
        _LAPSING,
        "may_go = purse.account.available",
        "may_go = purse.account.balance",
        (day("what is held keeps its day"),),
    ),
    Mutant(
        "the day of each lot",
        _LAPSING,
        "if day is not None and day <= end.last_day and may_go:",
        "if day is not None and may_go:",
        (day("the next lot's, when the first has lapsed"),),
    ),
    # What a partner may award.
    Mutant(
        "the cap on each award",
        _ALLOWANCE,
        "if limits.per_award is not None and points > limits.per_award:",
        "if limits.per_award is not None and points < 0:",
        (limits("a cap on each award"),),
    ),
    Mutant(
        "the cap on a member's day",
        _ALLOWANCE,
        "member_used + points > limits.per_member_day",
        "points > limits.per_member_day",
        (limits("a member's day"),),
    ),
    Mutant(
        "the budget of a day",
        _ALLOWANCE,
        "self.used_that_day + points > limits.per_day",
        "points > limits.per_day",
        (limits("a budget to the point"),),
    ),
    Mutant(
        "the budget in all",
        _ALLOWANCE,
        "self.used + points > limits.in_total",
        "points > limits.in_total",
        (limits("a budget in all"),),
    ),
    Mutant(
        "the rule that no day comes back",
        _ALLOWANCE,
        "return self if day <= self.day else",
        "return self if day == self.day else",
        ("tests/ledger/test_limits.py::test_a_day_begins_anew_and_never_comes_back[-1]",),
    ),
    Mutant(
        "the rule that a day begins anew",
        _ALLOWANCE,
        "return self if day <= self.day else self._replace(day=day, used_that_day=0)",
        "return self",
        ("tests/ledger/test_limits.py::test_a_day_begins_anew_and_never_comes_back[1]",),
    ),
)
