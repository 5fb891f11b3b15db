"""Without one lock, stage, key or limit that keeps a redemption to all or nothing, and to once."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_STOCK: Final = "abacus/engage/rewards/decide/stock.py"
_ROWS: Final = "abacus/engage/rewards/redemption_rows.py"
_REDEEMER: Final = "abacus/engage/rewards/redeemer.py"
_POOLS: Final = "abacus/engage/rewards/pools.py"
_PRICE: Final = "abacus/engage/rewards/decide/price.py"
_BOOKS: Final = "abacus/oversight/reconcile/rewards.py"
_GIFTS: Final = "abacus/engage/offers/gifts.py"
_LIMITS: Final = ("tests/engage/rewards/test_stock.py::test_limits_hold",)


def _redeemed(test: str) -> tuple[str]:
    return (f"tests/engage/rewards/test_redeemer.py::{test}",)


def _found(row: str) -> tuple[str]:
    return (f"tests/engage/rewards/test_reward_status.py::test_what_does_not_come_out_is_found[{row}]",)


_OF_A_HUNDRED: Final = _redeemed("test_a_pool_of_a_hundred_under_32_callers")


def _delivered(test: str) -> tuple[str]:
    return (f"tests/engage/rewards/test_deliveries.py::{test}",)


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
        "_entered",
        Node("digest not in known", "True"),
        ("tests/engage/rewards/test_pools.py::test_a_code_that_is_there_is_passed_over",),
    ),
    Mutant(
        "the redemption whose points cannot be held",
        _REDEEMER,
        "Redeemer._held",
        Node("one.status in {Status.REFUSED, Status.CONFLICT}", "False"),
        _redeemed("test_what_cannot_be_had_takes_nothing"),
    ),
    Mutant(
        "the points of a refused redemption",
        _REDEEMER,
        "Redeemer._movement",
        Node("release_of(each)", "capture_of(each)"),
        _redeemed("test_what_cannot_be_had_takes_nothing"),
    ),
    Mutant(
        "the points that were let go before they could be paid",
        _REDEEMER,
        "Redeemer._settle",
        Node("_is_lost(...)", "False"),
        _redeemed("test_points_that_were_let_go_meanwhile_give_the_code_back"),
    ),
    Mutant(
        "the call of a fulfiller",
        _REDEEMER,
        "Redeemer._settle",
        Node("await self._deliveries.after_payment(...)"),
        ("tests/engage/rewards/test_reward_status.py::test_a_fulfiller_is_called_once_and_called_off_once",),
    ),
    Mutant(
        "what was let go before",
        _REDEEMER,
        "_is_done",
        Node("one.fault.reason in _DONE_BEFORE.get(...)", "False"),
        _redeemed("test_a_refused_one_ends_also_where_somebody_has_let_its_points_go"),
    ),
    Mutant("the lock on the pieces of a reward", _ROWS, "_LOCK_USES", Clause("for update of r"), _OF_A_HUNDRED),
    Mutant(
        "the lock on a pool of codes",
        _ROWS,
        "_LOCK_POOLS",
        Clause("for update"),
        _redeemed("test_rewards_that_share_a_pool_give_each_code_once"),
    ),
    Mutant(
        "what a member takes of a reward in one moment",
        _STOCK,
        "Shelf.take",
        Node("self._by_members[by_member] = self._by_members.get(by_member, 0) + each.quantity"),
        ("tests/engage/rewards/test_stock.py::test_each_takes_what_those_before_it_left",),
    ),
    Mutant(
        "the least points of a price",
        _PRICE,
        "quote",
        Node("points < money.least_points * quantity", "False"),
        ("tests/engage/rewards/test_price.py::test_a_part_in_money",),
    ),
    Mutant(
        "the country of a reward",
        _PRICE,
        "closed",
        Node("standing.country != reward.country", "False"),
        ("tests/engage/rewards/test_price.py::test_where_and_when",),
    ),
    Mutant(
        "the points that a redemption has paid",
        _BOOKS,
        "_against_the_ledger",
        Node("posted[paid[each.key]] != -each.points", "False"),
        _found("update reward_redemption set points = 400-it costs 400 points, and 500 are paid"),
    ),
    Mutant(
        "the codes that nobody has",
        _BOOKS,
        "_POOLS",
        Clause("c.redemption_id is null and not c.is_spare", "false"),
        _found("update reward_code set redemption_id = null-1 codes were handed out, and no redemption has them"),
    ),
    Mutant(
        "the payments without a redemption",
        _BOOKS,
        "reward_books",
        Node("in_ledger != payments", "False"),
        _found("delete from reward_redemption-1 payments for rewards are posted, 0 have a redemption"),
    ),
    Mutant(
        "the invitation that a member has already",
        _GIFTS,
        "_INVITE",
        Clause("where not i.offers @> excluded.offers", "where true"),
        _delivered("test_an_invitation_is_paid_for_once"),
    ),
    Mutant(
        "the use of an invitation that is to come back",
        _GIFTS,
        "_IS_USED",
        Clause("and r.reserved_at >= g.given_at", "and r.reserved_at < g.given_at"),
        _delivered("test_an_invitation_that_is_used_stays"),
    ),
    Mutant(
        "the gift that another process has given",
        "abacus/engage/rewards/deliveries.py",
        "Deliveries.before_payment",
        Node("await is_given(self._pool, gift)", "False"),
        _delivered("test_whoever_finds_an_invitation_goes_on"),
    ),
)
