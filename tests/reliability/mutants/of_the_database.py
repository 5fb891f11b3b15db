"""Without one key, trigger or withheld right of the database itself: the baseline's scripts are changed."""

from typing import Final

from tests.reliability.mutants.changes import Clause
from tests.reliability.mutants.killers import database
from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.scripts import RULES, TABLES


def _refused(statement: str) -> tuple[str]:
    return (f"tests/platform/test_migrations.py::test_history_cannot_be_changed[{statement}]",)


def _may_not(statement: str) -> tuple[str]:
    return (database(f"test_what_the_application_may_not[{statement}]"),)


def _trigger(table: str, event: str, left: str, statement: str) -> Mutant:
    trigger = f"create trigger {table}_is_append_only before {{}} on {table}"
    return Mutant(
        f"the trigger on {event} of {table}",
        RULES,
        "",
        Clause(trigger.format("update or delete or truncate"), trigger.format(left)),
        _refused(statement),
    )


def _right(what: str, given: str, more: str, killers: tuple[str, ...]) -> Mutant:
    return Mutant(f"the right to {what}, withheld", RULES, "", Clause(f"grant {given}", f"grant {more}"), killers)


def _primary_key(what: str, table: str, key: str) -> Mutant:
    return Mutant(
        f"the primary key of {what}",
        TABLES,
        "",
        Clause(f"constraint {table}_pkey primary key ({key})", "check (true)"),
        (database(f"test_a_second_of_its_kind_is_refused[{table}]"),),
    )


MUTANTS: Final = (
    _trigger("claim", "changes", "delete or truncate", "update claim set fingerprint = ''"),
    _trigger("claim", "deletion", "update or truncate", "delete from claim"),
    _trigger("claim", "truncation", "update or delete", "truncate claim"),
    _trigger("transfer", "changes", "delete or truncate", "update transfer set points = points"),
    _trigger("transfer", "deletion", "update or truncate", "delete from transfer"),
    _trigger("transfer", "truncation", "update or delete", "truncate transfer"),
    _trigger("rejection", "changes", "delete or truncate", "update rejection set reason = ''"),
    _trigger("rejection", "deletion", "update or truncate", "delete from rejection"),
    _trigger("draw", "changes", "delete or truncate", "update draw set points = 0"),
    _trigger("draw", "deletion", "update or truncate", "delete from draw"),
    _trigger("draw", "truncation", "update or delete", "truncate draw"),
    Mutant(
        "the trigger on single rows of transfers",
        RULES,
        "",
        Clause(
            "create trigger transfer_rows_stay before delete on transfer"
            " for each row execute function abacus_refuse_change();"
        ),
        (database("test_a_row_stays_also_where_no_trigger_looks_at_the_statement[delete from transfer]"),),
    ),
    _right(
        "change transfers",
        "select, insert on transfer to",
        "select, insert, update on transfer to",
        _refused("update transfer set points = points"),
    ),
    _right(
        "delete claims",
        "select, insert on claim to",
        "select, insert, delete on claim to",
        _refused("delete from claim"),
    ),
    _right(
        "delete accounts",
        "select, insert, update (balance,",
        "select, insert, delete, update (balance,",
        _may_not("delete from account"),
    ),
    _right(
        "change draws",
        "select, insert on draw to",
        "select, insert, update on draw to",
        _refused("update draw set points = 0"),
    ),
    _right(
        "delete holds",
        "select, insert, update (status, settled_seq) on hold to",
        "select, insert, delete, update (status, settled_seq) on hold to",
        _may_not("delete from hold"),
    ),
    _right(
        "delete allowances",
        "select, insert (partner_id,",
        "select, delete, insert (partner_id,",
        _may_not("delete from allowance"),
    ),
    _right(
        "delete batches of a month's end",
        "select, insert, update (body,",
        "select, insert, delete, update (body,",
        _may_not("delete from expiry_batch"),
    ),
    _right(
        "change limits",
        "select, insert (partner_id, per_award, per_member_day, per_day, in_total), update (used,",
        "select, insert (partner_id, per_award, per_member_day, per_day, in_total), update (in_total, used,",
        _may_not("update allowance set in_total = null"),
    ),
    _right(
        "change the points of holds",
        "select, insert, update (status, settled_seq) on hold to",
        "select, insert, update (status, settled_seq, points) on hold to",
        _may_not("update hold set points = 1"),
    ),
    _right(
        "enter an allowance that is used",
        "select, insert (partner_id, per_award, per_member_day, per_day, in_total), update (used,",
        "select, insert, update (used,",
        _may_not("insert into allowance (partner_id, used) values ('acme', -1000)"),
    ),
    Mutant(
        "the look for the entry of the log before limits change",
        RULES,
        "",
        Clause("and xmin = pg_current_xact_id()::xid", "or true"),
        (database("test_limits_change_only_in_a_transaction_that_logs_it"),),
    ),
    Mutant(
        "the schema in which limits look for the log",
        RULES,
        "",
        Clause(
            "returns void language plpgsql security definer set search_path from current as $$",
            "returns void language plpgsql security definer set search_path = pg_temp, public as $$",
        ),
        (database("test_a_table_of_the_caller_is_not_taken_for_the_log"),),
    ),
    _primary_key("claims", "claim", "key"),
    _primary_key("accounts", "account", "member_id, program"),
    _primary_key("transfers", "transfer", "member_id, program, seq"),
    _primary_key("draws", "draw", "member_id, program, lot_seq, seq"),
    _primary_key("holds", "hold", "member_id, hold_id"),
    _primary_key("allowances", "allowance", "partner_id"),
    _primary_key("members' days", "allowance_member", "member_id, partner_id, day"),
    _primary_key("rejections", "rejection", "key"),
    _primary_key("the batches of a month's end", "expiry_batch", "country, month, number"),
)
