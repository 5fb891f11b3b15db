"""Without one check of the points that an account can take, or one part of a transfer's hash."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.killers import fate, transfer
from tests.reliability.mutants.mutant import Mutant

_TRANSFER: Final = "abacus/ledger/decide/transfer.py"
_HASHING: Final = "abacus/ledger/decide/chain.py"
_EXPIRY: Final = "test_expiry_after"
_CHAIN: Final = "test_whoever_seals_a_changed_transfer_again_breaks_the_next"
_CHANGED: Final = "test_a_changed_field_breaks_the_chain"
_NEWCOMER: Final = "tests/ledger/test_moves.py::test_no_account_is_opened_for_such_an_id[memory-=1+1]"

MUTANTS: Final = (
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
        Node("self.balance - self.held - self.pending", "self.balance - self.pending"),
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
        "_with_lifetime",
        Node("orjson.dumps(...)", 'b""'),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "the explanation, in a hash",
        _HASHING,
        "_with_lifetime",
        Node("body[_EXPLANATION]", 'b""'),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "what is taken back, in a hash",
        _HASHING,
        "_facts",
        Node("reverses", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "who did it, in a hash",
        _HASHING,
        "_facts",
        Node("actor", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "where the points came from, in a hash",
        _HASHING,
        "_facts",
        Node("source", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "how the account lapses, in a hash",
        _HASHING,
        "_facts",
        Node("lifetime", "None"),
        (transfer(_CHANGED),),
    ),
    Mutant(
        "the day that an emptied account remembers",
        _TRANSFER,
        "expiry_after",
        Node("account.active_until", "account.expires_on"),
        (transfer("test_an_emptied_account_remembers_until_when_its_member_was_active"),),
    ),
    Mutant(
        "the rule that a gift goes by the day of points that are there",
        _TRANSFER,
        "expiry_after",
        Node("account.balance <= 0", "True"),
        (transfer("test_a_gift_brings_its_day_once_that_of_an_empty_account_has_come"),),
    ),
    Mutant(
        "the rule that a gift by lots is no activity",
        _TRANSFER,
        "_apply_by_lots",
        Node("award.activity", "True"),
        (transfer("test_by_lots_only_a_transaction_moves_the_day_by_activity"),),
    ),
    Mutant(
        "refusing an account to an id that deceives, where awards are posted",
        "abacus/ledger/decide/batch.py",
        "plan",
        Node("check_newcomer(...)"),
        (_NEWCOMER,),
    ),
    Mutant(
        "refusing an account to an id that deceives, where points are moved",
        "abacus/ledger/decide/movement.py",
        "plan_moves",
        Node("check_newcomer(...)"),
        (_NEWCOMER,),
    ),
)
