"""Without one lock, guard or order of the statements that posting is made of."""

from typing import Final

from tests.reliability.mutants.changes import Behind, Clause, Node
from tests.reliability.mutants.killers import at_once, counts, fate, limits, once, second
from tests.reliability.mutants.mutant import Mutant

_ROWS: Final = "abacus/ledger/store/rows.py"
_POST: Final = "abacus/ledger/store/post.py"
_MOVE: Final = "abacus/ledger/store/moves.py"
_STANDING: Final = "abacus/ledger/store/partner_limits.py"
_ALLOWANCES: Final = "abacus/ledger/store/allowances.py"
_BUDGETS: Final = "tests/ledger/slices/test_budgets.py"
_EXPIRER: Final = "abacus/programs/expiry/expirer.py"

_LATER: Final = "test_a_batch_that_waited_past_a_later_id_takes_over_its_stamp"
_EXPIRING: Final = "tests/programs/expiry/test_expiry.py"

MUTANTS: Final = (
    Mutant(
        "looking up the transactions of partners' awards",
        _POST,
        "PostgresLedger._post",
        Node("keys_of(...)", "{award.key for award in awards}"),
        (once("a partner under another key", "postgres"),),
    ),
    Mutant(
        "the lock on accounts",
        _ROWS,
        "_LOCK",
        Clause("for update of a"),
        (second("a spend waits for an award"),),
    ),
    Mutant(
        "the order in which accounts are locked",
        _ROWS,
        "_LOCK",
        Clause("order by u.place"),
        (at_once("test_accounts_are_locked_in_order[c b a]"),),
    ),
    Mutant(
        "the stamp of an account that is ahead of its writer",
        _ROWS,
        "_LOCK",
        Clause("case when a.last_xid > pg_current_xact_id() then a.last_xid::text end as ahead", "null::text as ahead"),
        (at_once(f"{_LATER}[an award after an award]"),),
    ),
    Mutant(
        "the stamp that a change leaves on its account",
        _ROWS,
        "_BY_ID",
        Clause("greatest(a.last_xid, pg_current_xact_id())", "a.last_xid"),
        (at_once(f"{_LATER}[an award after an award]"),),
    ),
    Mutant(
        "the rule that an account's stamp never falls",
        _ROWS,
        "_BY_ID",
        Clause("greatest(a.last_xid, pg_current_xact_id())", "pg_current_xact_id()"),
        (at_once(f"{_LATER}[a spend after an award]"),),
    ),
    Mutant(
        "the stamp that opening leaves on an account",
        _ROWS,
        "_OPEN",
        Clause("pg_current_xact_id()", "'0'::xid8"),
        (at_once("test_a_batch_that_waited_while_an_account_was_opened_takes_over_its_stamp"),),
    ),
    Mutant(
        "the turn that writers of a slice take",
        "abacus/platform/slices/transaction.py",
        "_TAKE_TURN",
        Clause("for update"),
        ("tests/ledger/slices/test_slices.py::test_writers_of_a_slice_take_turns",),
    ),
    Mutant(
        "looking again when a key was claimed by another",
        _ROWS,
        "_enter",
        Node("raise Overtaken from error", "raise"),
        (at_once("test_who_claims_a_key_second_looks_again"),),
    ),
    Mutant(
        "looking again when a key was claimed by another on another server",
        "abacus/platform/postgres.py",
        "is_duplicate",
        Node("is_refused_copy(error)", "False"),
        (at_once("test_who_claims_a_key_second_on_another_server_looks_again"),),
    ),
    Mutant(
        "`on conflict do nothing` for accounts that another opened",
        _ROWS,
        "_OPEN",
        Clause("on conflict do nothing"),
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the count of the accounts that were opened",
        _ROWS,
        "_open",
        Node("opened != len(ordered)", "False"),
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the order in which accounts are opened",
        _ROWS,
        "_open",
        Node("sorted(accounts)", "list(accounts)"),
        (at_once("test_accounts_are_opened_in_order"),),
    ),
    Mutant(
        "opening accounts before others are changed",
        _ROWS,
        "write",
        Behind("await _open(...)", of="await _update(...)"),
        (at_once("test_accounts_are_opened_before_others_are_updated"),),
    ),
    Mutant(
        "the transaction around a batch",
        "abacus/platform/slices/reach.py",
        "Slice.within",
        Node("connection.transaction()", '__import__("contextlib").nullcontext()'),
        (at_once("test_a_round_is_written_whole_or_not_at_all"),),
    ),
    Mutant(
        "starting again when overtaken",
        _ROWS,
        "in_a_transaction",
        Node("attempt += 1", "raise"),
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the partners' lock before any other look",
        _POST,
        "PostgresLedger._post",
        Behind("standing = ...", of="earlier = await self._claimed.among(...)"),
        (at_once("test_who_spends_a_budget_second_finds_it_spent[the same again]"),),
    ),
    Mutant(
        "the partners' limits, where awards are posted",
        _POST,
        "PostgresLedger._post",
        Node(
            "plan(awards, earlier, accounts, now, standing, ...)",
            "plan(awards, earlier, accounts, now, refused=refused)",
        ),
        (limits("a budget to the point", "postgres"),),
    ),
    Mutant(
        "writing down what a partner has awarded",
        _POST,
        "PostgresLedger._post",
        Node("await write_use(...)"),
        (limits("a budget to the point", "postgres"),),
    ),
    Mutant(
        "the accounts' lock before the look at the keys",
        _MOVE,
        "PostgresMoves._move",
        Behind("locked = await lock_accounts(...)", of="earlier = await self._claimed.among(...)"),
        (second("a spend that comes twice is done once"),),
    ),
    Mutant(
        "the partners' lock before the accounts' lock, where points are moved",
        _MOVE,
        "PostgresMoves._move",
        Behind("standing = ...", of="locked = await lock_accounts(...)"),
        (at_once("test_an_adjustment_locks_its_partner_before_the_account"),),
    ),
    Mutant(
        "the partners' limits, where points are moved",
        _MOVE,
        "PostgresMoves._move",
        Node(
            "plan_moves(movements, earlier, books, now, standing, moved_alone=moved_alone, refused=refused)",
            "plan_moves(movements, earlier, books, now, moved_alone=moved_alone, refused=refused)",
        ),
        (counts("a cap on each", "postgres"),),
    ),
    Mutant(
        "writing down what a partner has given by moving points",
        _MOVE,
        "PostgresMoves._move",
        Node("await write_use(...)"),
        (counts("a budget in all, with awards", "postgres"),),
    ),
    Mutant(
        "the order in which accounts are locked to move points",
        _MOVE,
        "PostgresMoves._move",
        Node("sorted(set(map(account_of, movements)))", "sorted(set(map(account_of, movements)), reverse=True)"),
        (at_once("test_accounts_are_locked_in_order_to_move_points"),),
    ),
    Mutant(
        "a round of its own for each reversal of an account",
        _MOVE,
        "PostgresMoves._move_in",
        Node("rounds(movements)", "[range(len(movements))]"),
        (fate("several of one account in a batch", "postgres"),),
    ),
    Mutant(
        "writing down that a hold is settled",
        _MOVE,
        "_KEEP_HOLD",
        Clause("status = excluded.status,"),
        (fate("a hold is captured once", "postgres"),),
    ),
    Mutant(
        "the lock on partners' allowances",
        _ALLOWANCES,
        "_LOCK",
        Clause("for update"),
        (at_once("test_who_spends_a_budget_second_finds_it_spent[another, to another member]"),),
    ),
    Mutant(
        "the order in which allowances are locked",
        _ALLOWANCES,
        "_LOCK",
        Clause("order by partner_id"),
        (at_once("test_partners_are_locked_in_order"),),
    ),
    Mutant(
        "the lock on a slice's part of allowances",
        _ALLOWANCES,
        "_LOCK_PARTS",
        Clause("for update"),
        (f"{_BUDGETS}::test_what_a_slice_has_in_hand_is_not_taken_while_somebody_looks",),
    ),
    Mutant(
        "what another slice may have, asked for before anything is rejected",
        _POST,
        "PostgresLedger._post",
        Node("decided.spending.in_hand()"),
        (f"{_BUDGETS}::test_a_budget_holds_over_all_slices[in_total-1000]",),
    ),
    Mutant(
        "what the other slices have awarded, when all that is left is at hand",
        _ALLOWANCES,
        "lock",
        Node("with_all(parts[partner_id], others)", "with_all(parts[partner_id], [])"),
        (f"{_BUDGETS}::test_a_budget_holds_over_all_slices[in_total-495]",),
    ),
    Mutant(
        "the look at what was rejected before",
        _STANDING,
        "lock_standing",
        Node("keys", "[]"),
        (limits("a rejection is final for its key", "postgres"),),
    ),
    Mutant(
        "the look at what members got today",
        _STANDING,
        "lock_standing",
        Node("{...: ... for row in used}", "{}"),
        (limits("a member's day", "postgres"),),
    ),
    Mutant(
        "the lock on a batch of a month's end",
        _EXPIRER,
        "_TAKE",
        Clause("for update"),
        (f"{_EXPIRING}::test_a_second_delivery_waits_for_the_first",),
    ),
    Mutant(
        "the look whether a batch of a month's end is done",
        _EXPIRER,
        "Expirer._post",
        Node("if row['is_done']:\n    ..."),
        (f"{_EXPIRING}::test_a_second_delivery_waits_for_the_first",),
    ),
    Mutant(
        "the look whether a batch of a month's end is on record",
        _EXPIRER,
        "Expirer._post",
        Node("row is None", "False"),
        (f"{_EXPIRING}::test_what_is_no_envelope_of_a_run_is_set_aside",),
    ),
    Mutant(
        "the look whether an account lapsed with this month's end before",
        "abacus/programs/expiry/decide/batch.py",
        "lapse_all",
        Node("gate.earlier(key, facts)", "None"),
        (f"{_EXPIRING}::test_an_account_lapses_once_with_a_months_end",),
    ),
)
