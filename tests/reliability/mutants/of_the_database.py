"""Without one key, trigger or withheld right of the database itself: the migrations' text is changed."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.killers import database
from tests.reliability.mutants.mutant import Mutant

_SPINE: Final = "alembic/versions/0001_the_spine.py"
_PARTNERS: Final = "alembic/versions/0002_partners.py"
_EXPIRY: Final = "alembic/versions/0004_expiry.py"
_LIFE: Final = "alembic/versions/0008_the_life_of_a_point.py"
_NARROW: Final = "alembic/versions/0022_narrow_rights.py"
_ERASURE: Final = "alembic/versions/0010_erasure.py"  # where the triggers got their last form


def _refused(statement: str) -> tuple[str]:
    return (f"tests/platform/test_migrations.py::test_history_cannot_be_changed[{statement}]",)


def _second(table: str) -> tuple[str]:
    return (database(f"test_a_second_of_its_kind_is_refused[{table}]"),)


def _may_not(statement: str) -> tuple[str]:
    return (database(f"test_what_the_application_may_not[{statement}]"),)


def _trigger(table: str, event: str, left: str, statement: str) -> Mutant:
    trigger = "guarded(table, \"'but for erasure'\")"
    return Mutant(
        f"the trigger on {event} of {table}",
        _ERASURE,
        "upgrade",
        Node(trigger, f"{trigger}.replace('update or delete or truncate on {table} ', '{left} on {table} ')"),
        _refused(statement),
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
        "the triggers on single rows",
        "alembic/versions/0038_rows_that_stay.py",
        "upgrade",
        Node("op.execute(...)", "None"),
        (database("test_a_row_stays_also_where_no_trigger_looks_at_the_statement[delete from transfer]"),),
    ),
    Mutant(
        "the right to change transfers, withheld",
        _SPINE,
        "ROLE",
        Clause(
            "grant delete on membership to", "grant update on transfer to abacus_app;\ngrant delete on membership to"
        ),
        _refused("update transfer set points = points"),
    ),
    Mutant(
        "the right to delete claims, withheld",
        _SPINE,
        "ROLE",
        Clause("grant delete on membership to", "grant delete on membership, claim to"),
        _refused("delete from claim"),
    ),
    Mutant(
        "the right to delete accounts, withheld",
        _SPINE,
        "ROLE",
        Clause("grant delete on membership to", "grant delete on membership, account to"),
        _may_not("delete from account"),
    ),
    Mutant(
        "the right to change draws, withheld",
        _LIFE,
        "STATEMENTS",
        Clause("grant select, insert on draw to", "grant select, insert, update on draw to"),
        _refused("update draw set points = 0"),
    ),
    Mutant(
        "the right to delete holds, withheld",
        _LIFE,
        "STATEMENTS",
        Clause("grant select, insert, update on hold,", "grant select, insert, update, delete on hold,"),
        _may_not("delete from hold"),
    ),
    Mutant(
        "the right to delete allowances, withheld",
        _PARTNERS,
        "RIGHTS",
        Clause("grant delete on allowance_member,", "grant delete on allowance, allowance_member,"),
        _may_not("delete from allowance"),
    ),
    Mutant(
        "the right to delete batches of a month's end, withheld",
        _EXPIRY,
        "STATEMENTS",
        Clause("grant select, insert, update on expiry_run,", "grant select, insert, update, delete on expiry_run,"),
        _may_not("delete from expiry_batch"),
    ),
    Mutant(
        "the right to change limits, withheld",
        _NARROW,
        "CHANGED",
        Clause("used, day, used_that_day", "used, day, used_that_day, in_total"),
        _may_not("update allowance set in_total = null"),
    ),
    Mutant(
        "the right to change the points of holds, withheld",
        _NARROW,
        "CHANGED",
        Clause("status, settled_seq", "status, settled_seq, points"),
        _may_not("update hold set points = 1"),
    ),
    Mutant(
        "the right to enter an allowance that is used, withheld",
        _NARROW,
        "upgrade",
        Node('op.execute("revoke insert on allowance from abacus_app")'),
        _may_not("insert into allowance (partner_id, used) values ('acme', -1000)"),
    ),
    Mutant(
        "the look for the entry of the log before limits change",
        _NARROW,
        "SET_LIMITS",
        Clause("and xmin = pg_current_xact_id()::xid", "or true"),
        (database("test_limits_change_only_in_a_transaction_that_logs_it"),),
    ),
    Mutant(
        "the schema in which limits look for the log",
        _NARROW,
        "upgrade",
        Node("statement", "statement.replace('%I, pg_temp', 'pg_temp, %I')"),
        (database("test_a_table_of_the_caller_is_not_taken_for_the_log"),),
    ),
    Mutant(
        "the primary key of claims",
        _SPINE,
        "TABLES",
        Clause("constraint claim_pkey primary key", "not null"),
        _second("claim"),
    ),
    Mutant(
        "the primary key of accounts",
        _SPINE,
        "TABLES",
        Clause(", constraint account_pkey primary key (member_id, program)"),
        _second("account"),
    ),
    Mutant(
        "the primary key of transfers",
        _SPINE,
        "TABLES",
        Clause(", constraint transfer_pkey primary key (member_id, program, seq)"),
        _second("transfer"),
    ),
    Mutant(
        "the primary key of draws",
        _LIFE,
        "STATEMENTS",
        Clause(", constraint draw_pkey primary key (member_id, program, lot_seq, seq)"),
        _second("draw"),
    ),
    Mutant(
        "the primary key of holds",
        _LIFE,
        "STATEMENTS",
        Clause(", constraint hold_pkey primary key (member_id, hold_id)"),
        _second("hold"),
    ),
    Mutant(
        "the primary key of allowances",
        _PARTNERS,
        "TABLES",
        Clause("constraint allowance_pkey primary key", "not null"),
        _second("allowance"),
    ),
    Mutant(
        "the primary key of members' days",
        _PARTNERS,
        "TABLES",
        Clause(", constraint allowance_member_pkey primary key (member_id, partner_id, day)"),
        _second("allowance_member"),
    ),
    Mutant(
        "the primary key of rejections",
        _PARTNERS,
        "TABLES",
        Clause("constraint rejection_pkey primary key", "not null"),
        _second("rejection"),
    ),
    Mutant(
        "the primary key of the batches of a month's end",
        _EXPIRY,
        "STATEMENTS",
        Clause(", constraint expiry_batch_pkey primary key (country, month, number)"),
        _second("expiry_batch"),
    ),
)
