"""Without one lock, stage, key or limit that keeps a redemption to all or nothing, and to once."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_STOCK: Final = "abacus/engage/rewards/decide/stock.py"
_ROWS: Final = "abacus/engage/rewards/redemption_rows.py"
_REDEEMER: Final = "abacus/engage/rewards/redeemer.py"
_POOLS: Final = "abacus/engage/rewards/pools.py"
_LIMITS: Final = ("tests/engage/rewards/test_stock.py::test_limits_hold",)


def _redeemed(test: str) -> tuple[str]:
    return (f"tests/engage/rewards/test_redeemer.py::{test}",)


MUTANTS: Final = (
    Mutant(
        "the limits of a reward",
        _STOCK,
        "Shelf.lacking",
        Node("most is not None and used + each.quantity > most", "False"),
        _LIMITS,
    ),
    Mutant(
        "what a redemption takes of the stock",
        _STOCK,
        "Shelf.take",
        Node("self.used[use] = self.used.get(use, 0) + each.quantity"),
        _LIMITS,
    ),
    Mutant(
        "the comparison of a redemption's facts",
        _REDEEMER,
        "_answer",
        Node("found.fingerprint != order.fingerprint", "False"),
        _redeemed("test_points_become_a_code_which_the_key_answers_again"),
    ),
    Mutant(
        "the codes of a redemption that came to nothing",
        _ROWS,
        "RedemptionRows.untake",
        Node("stage is Stage.TAKEN", "False"),
        _redeemed("test_points_that_were_let_go_meanwhile_give_the_code_back"),
    ),
    Mutant(
        "the pieces of a redemption that came to nothing",
        _ROWS,
        "RedemptionRows.untake",
        Node("used[use] -= each.quantity"),
        _redeemed("test_what_is_not_delivered_is_cancelled_and_its_piece_is_there_again"),
    ),
    Mutant(
        "the stages that count against limits",
        _ROWS,
        "_OF_MEMBERS",
        Clause("and r.stage in (", "and r.stage not in ("),
        _redeemed("test_what_cannot_be_had_takes_nothing"),
    ),
    Mutant(
        "the last place of a pool that was handed out",
        _ROWS,
        "_write",
        Node("last[pool] = max(last[pool], place)"),
        _redeemed("test_points_become_a_code_which_the_key_answers_again"),
    ),
    Mutant(
        "the look for codes that are there",
        _POOLS,
        "_ENTER",
        Clause("not exists (", "exists ("),
        _redeemed("test_points_become_a_code_which_the_key_answers_again"),
    ),
)
