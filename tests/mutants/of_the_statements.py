"""Without one lock, guard or order of the statements that posting is made of."""

from typing import Final

from tests.mutants.killers import at_once, fate, limits, second
from tests.mutants.mutant import Mutant

_ROWS: Final = "abacus/ledger/store/rows.py"
_POST: Final = "abacus/ledger/store/post.py"
_MOVE: Final = "abacus/ledger/store/moves.py"
_STANDING: Final = "abacus/ledger/store/partner_limits.py"
_EXPIRER: Final = "abacus/programs/expiry/expirer.py"

_ORDERED: Final = "order by u.place\nfor update of a\n"
_OPENING: Final = "await _open(connection, [account for id_, account in accounts.items() if id_ not in locked.rows])"
_CHANGING: Final = """known = [(locked.rows[id_], account) for id_, account in accounts.items() if id_ in locked.rows]
    await _update(connection, known, whole=whole)"""
_LATER: Final = "test_a_batch_that_waited_past_a_later_id_takes_over_its_stamp"
_EXPIRING: Final = "tests/programs/expiry/test_expiry.py"

MUTANTS: Final = (
    Mutant("the lock on accounts", _ROWS, _ORDERED, "order by u.place\n", (second("a spend waits for an award"),)),
    Mutant(
        "the order in which accounts are locked",
        _ROWS,
        _ORDERED,
        "for update of a\n",
        (at_once("test_accounts_are_locked_in_order[c b a]"),),
    ),
    Mutant(
        "the stamp of an account that is ahead of its writer",
        _ROWS,
        "case when a.last_xid > pg_current_xact_id() then a.last_xid::text end as ahead",
        "null::text as ahead",
        (at_once(f"{_LATER}[an award after an award]"),),
    ),
    Mutant(
        "the stamp that a change leaves on its account",
        _ROWS,
        ",\n    last_xid = greatest(a.last_xid, pg_current_xact_id())",
        "",
        (at_once(f"{_LATER}[an award after an award]"),),
    ),
    Mutant(
        "the rule that an account's stamp never falls",
        _ROWS,
        "last_xid = greatest(a.last_xid, pg_current_xact_id())",
        "last_xid = pg_current_xact_id()",
        (at_once(f"{_LATER}[a spend after an award]"),),
    ),
    Mutant(
        "the stamp that opening leaves on an account",
        _ROWS,
        "lifetime,\n    pg_current_xact_id()\nfrom",
        "lifetime,\n    '0'::xid8\nfrom",
        (at_once("test_a_batch_that_waited_while_an_account_was_opened_takes_over_its_stamp"),),
    ),
    Mutant(
        "looking again when a key was claimed by another",
        _ROWS,
        "raise Overtaken from error",
        "raise",
        (at_once("test_who_claims_a_key_second_looks_again"),),
    ),
    Mutant(
        "`on conflict do nothing` for accounts that another opened",
        _ROWS,
        "head_hash, lifetime)\non conflict do nothing\n",
        "head_hash, lifetime)\n",
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the count of the accounts that were opened",
        _ROWS,
        'if opened != f"INSERT 0 {len(ordered)}":',
        "if not opened:",
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the order in which accounts are opened",
        _ROWS,
        "ordered = sorted(accounts)",
        "ordered = list(accounts)",
        (at_once("test_accounts_are_opened_in_order"),),
    ),
    Mutant(
        "opening accounts before others are changed",
        _ROWS,
        f"    {_OPENING}\n    {_CHANGING}\n",
        f"    {_CHANGING}\n    {_OPENING}\n",
        (at_once("test_accounts_are_opened_before_others_are_updated"),),
    ),
    Mutant(
        "the transaction around a batch",
        _ROWS,
        "pool.acquire() as connection, connection.transaction():",
        "pool.acquire() as connection:",
        (at_once("test_a_round_is_written_whole_or_not_at_all"),),
    ),
    Mutant(
        "starting again when overtaken",
        _ROWS,
        "        except Overtaken:\n",
        "        except Overtaken:\n            raise\n",
        (at_once("test_who_opens_an_account_second_looks_again"),),
    ),
    Mutant(
        "the partners' lock before any other look",
        _POST,
        """        standing = await lock_standing(connection, partners, self._clock.now()) if partners else NOBODY
        earlier = await claimed(connection, {award.key for award in awards})
""",
        """        earlier = await claimed(connection, {award.key for award in awards})
        standing = await lock_standing(connection, partners, self._clock.now()) if partners else NOBODY
""",
        (at_once("test_who_spends_a_budget_second_finds_it_spent[the same again]"),),
    ),
    Mutant(
        "the partners' limits, where awards are posted",
        _POST,
        "decided = plan(awards, earlier, accounts, now, standing)",
        "decided = plan(awards, earlier, accounts, now)",
        (limits("a budget to the point", "postgres"),),
    ),
    Mutant(
        "writing down what a partner has awarded",
        _POST,
        "        if partners:\n            await write_spending",
        "        if not partners:\n            await write_spending",
        (limits("a budget to the point", "postgres"),),
    ),
    Mutant(
        "the accounts' lock before the look at the keys",
        _MOVE,
        """        locked = await lock_accounts(connection, sorted(set(map(account_of, movements))))
        earlier = await claimed(connection, {movement.key for movement in movements})
""",
        """        earlier = await claimed(connection, {movement.key for movement in movements})
        locked = await lock_accounts(connection, sorted(set(map(account_of, movements))))
""",
        (second("a spend that comes twice is done once"),),
    ),
    Mutant(
        "the order in which accounts are locked to move points",
        _MOVE,
        "sorted(set(map(account_of, movements)))",
        "sorted(set(map(account_of, movements)), reverse=True)",
        (at_once("test_accounts_are_locked_in_order_to_move_points"),),
    ),
    Mutant(
        "a round of its own for each reversal of an account",
        _MOVE,
        "for places in rounds(movements):",
        "for places in [range(len(movements))]:",
        (fate("several of one account in a batch", "postgres"),),
    ),
    Mutant(
        "writing down that a hold is settled",
        _MOVE,
        "set status = excluded.status, settled_seq",
        "set settled_seq",
        (fate("a hold is captured once", "postgres"),),
    ),
    Mutant(
        "the lock on partners' allowances",
        _STANDING,
        "order by partner_id for update",
        "order by partner_id",
        (at_once("test_who_spends_a_budget_second_finds_it_spent[another, to another member]"),),
    ),
    Mutant(
        "the order in which allowances are locked",
        _STANDING,
        "order by partner_id for update",
        "for update",
        (at_once("test_partners_are_locked_in_order"),),
    ),
    Mutant(
        "the look at what was rejected before",
        _STANDING,
        "await connection.fetch(*_REJECTIONS(keys=keys))",
        "await connection.fetch(*_REJECTIONS(keys=[]))",
        (limits("a rejection is final for its key", "postgres"),),
    ),
    Mutant(
        "the look at what members got today",
        _STANDING,
        "{row.member_day: row.used for row in used},",
        "{},",
        (limits("a member's day", "postgres"),),
    ),
    Mutant(
        "the lock on a batch of a month's end",
        _EXPIRER,
        "and number = $3 for update\n",
        "and number = $3\n",
        (f"{_EXPIRING}::test_a_second_delivery_waits_for_the_first",),
    ),
    Mutant(
        "the look whether a batch of a month's end is done",
        _EXPIRER,
        "        if is_done:\n            return None\n",
        "",
        (f"{_EXPIRING}::test_a_second_delivery_waits_for_the_first",),
    ),
    Mutant(
        "the look whether a batch of a month's end is on record",
        _EXPIRER,
        """        if is_done is None:
            raise SetAside(Reason.INVALID, f"no record of batch {envelope.number} of {batch[0]} {batch[1]}")
""",
        "",
        (f"{_EXPIRING}::test_what_is_no_envelope_of_a_run_is_set_aside",),
    ),
    Mutant(
        "the look whether an account lapsed with this month's end before",
        _EXPIRER,
        "for id_, account in locked.accounts.items() if keys[id_] not in earlier}",
        "for id_, account in locked.accounts.items()}",
        (f"{_EXPIRING}::test_an_account_lapses_once_with_a_months_end",),
    ),
)
