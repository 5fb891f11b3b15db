"""Without one check of the points that an account can take, or one part of a transfer's hash."""

from typing import Final

from tests.mutants.changes import Node
from tests.mutants.killers import fate, transfer
from tests.mutants.mutant import Mutant

_TRANSFER: Final = "abacus/ledger/decide/transfer.py"
_HASHING: Final = "abacus/ledger/decide/chain.py"
_EXPIRY: Final = "test_expiry_after"
_CHAIN: Final = "test_whoever_seals_a_changed_transfer_again_breaks_the_next"
_CHANGED: Final = "test_a_changed_field_breaks_the_chain"

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
)
