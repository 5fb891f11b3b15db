"""Without one check of spending, holding, capturing, releasing and adjusting."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.killers import beside, fate
from tests.reliability.mutants.mutant import Mutant

_SPEND: Final = "abacus/ledger/decide/spend.py"
_ADJUST: Final = "abacus/ledger/decide/movement.py"

MUTANTS: Final = (
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
        Node("... and hold.until is not None and hold.until > now", "False"),
        (fate("not over yet"),),
    ),
    Mutant(
        "the look whose hold without an end it is",
        _SPEND,
        "_open",
        Node("held.settled_by not in {None, source}", "False"),
        (
            fate("a hold of an exchange is not another's to capture"),
            fate("a hold of an exchange is not another's to release"),
        ),
    ),
    Mutant(
        "the source of a hold without an end",
        _SPEND,
        "reserve",
        Node("movement.source if movement.until is None else None", "None"),
        (fate("a hold of an exchange is not another's to capture"),),
    ),
    Mutant(
        "the faults of movements that are not admitted",
        _ADJUST,
        "plan_moves",
        Node("movement.key in refused", "False"),
        (beside("test_what_is_not_admitted_is_refused_unless_its_key_is_known"),),
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
            "_entry(kind, movement, explanation, now, held=-hold.points)",
            "_entry(kind, movement, explanation, now, held=-points)",
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
)
