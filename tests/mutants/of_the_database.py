"""Without one key, trigger or withheld right of the database itself: the migrations' text is changed."""

from typing import Final

from tests.mutants.killers import database
from tests.mutants.mutant import Mutant

_SPINE: Final = "alembic/versions/0001_the_spine.py"
_PARTNERS: Final = "alembic/versions/0002_partners.py"
_EXPIRY: Final = "alembic/versions/0004_expiry.py"
_LIFE: Final = "alembic/versions/0008_the_life_of_a_point.py"
_ERASURE: Final = "alembic/versions/0010_erasure.py"  # where the triggers got their last form


def _refused(statement: str) -> tuple[str]:
    return (f"tests/platform/test_migrations.py::test_history_cannot_be_changed[{statement}]",)


def _second(table: str) -> tuple[str]:
    return (database(f"test_a_second_of_its_kind_is_refused[{table}]"),)


def _may_not(statement: str) -> tuple[str]:
    return (database(f"test_what_the_application_may_not[{statement}]"),)


def _trigger(table: str, event: str, left: str, statement: str) -> Mutant:
    return Mutant(
        f"the trigger on {event} of {table}",
        _ERASURE,
        "update or delete or truncate on {table}",
        f"{{'{left}' if table == '{table}' else 'update or delete or truncate'}} on {{table}}",
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
        "the right to change transfers, withheld",
        _SPINE,
        "grant select, insert on claim, transfer, rate_card to abacus_app;",
        "grant select, insert on claim, transfer, rate_card to abacus_app;\ngrant update on transfer to abacus_app;",
        _refused("update transfer set points = points"),
    ),
    Mutant(
        "the right to delete claims, withheld",
        _SPINE,
        "grant select, insert on claim, transfer, rate_card to abacus_app;",
        "grant select, insert on claim, transfer, rate_card to abacus_app;\ngrant delete on claim to abacus_app;",
        _refused("delete from claim"),
    ),
    Mutant(
        "the right to delete accounts, withheld",
        _SPINE,
        "grant delete on membership to abacus_app;",
        "grant delete on membership, account to abacus_app;",
        _may_not("delete from account"),
    ),
    Mutant(
        "the right to change draws, withheld",
        _LIFE,
        '"grant select, insert on draw to abacus_app"',
        '"grant select, insert, update on draw to abacus_app"',
        _refused("update draw set points = 0"),
    ),
    Mutant(
        "the right to delete holds, withheld",
        _LIFE,
        '"grant select, insert, update on hold, adjustment to abacus_app"',
        '"grant select, insert, update, delete on hold, adjustment to abacus_app"',
        _may_not("delete from hold"),
    ),
    Mutant(
        "the right to delete allowances, withheld",
        _PARTNERS,
        "grant delete on allowance_member,",
        "grant delete on allowance, allowance_member,",
        _may_not("delete from allowance"),
    ),
    Mutant(
        "the right to delete batches of a month's end, withheld",
        _EXPIRY,
        "grant select, insert, update on expiry_run",
        "grant select, insert, update, delete on expiry_run",
        _may_not("delete from expiry_batch"),
    ),
    Mutant(
        "the primary key of claims",
        _SPINE,
        'key text collate "C" constraint claim_pkey primary key',
        'key text collate "C" not null',
        _second("claim"),
    ),
    Mutant(
        "the primary key of accounts",
        _SPINE,
        "last_xid xid8 not null default '0',\n    constraint account_pkey primary key (member_id, program)\n",
        "last_xid xid8 not null default '0'\n",
        _second("account"),
    ),
    Mutant(
        "the primary key of transfers",
        _SPINE,
        "hash bytea not null,\n    constraint transfer_pkey primary key (member_id, program, seq)\n",
        "hash bytea not null\n",
        _second("transfer"),
    ),
    Mutant(
        "the primary key of draws",
        _LIFE,
        ",\n        constraint draw_pkey primary key (member_id, program, lot_seq, seq)",
        "",
        _second("draw"),
    ),
    Mutant(
        "the primary key of holds",
        _LIFE,
        ",\n        constraint hold_pkey primary key (member_id, hold_id)",
        "",
        _second("hold"),
    ),
    Mutant(
        "the primary key of allowances",
        _PARTNERS,
        'partner_id text collate "C" constraint allowance_pkey primary key',
        'partner_id text collate "C" not null',
        _second("allowance"),
    ),
    Mutant(
        "the primary key of members' days",
        _PARTNERS,
        ",\n        constraint allowance_member_pkey primary key (member_id, partner_id, day)",
        "",
        _second("allowance_member"),
    ),
    Mutant(
        "the primary key of rejections",
        _PARTNERS,
        'key text collate "C" constraint rejection_pkey primary key',
        'key text collate "C" not null',
        _second("rejection"),
    ),
    Mutant(
        "the primary key of the batches of a month's end",
        _EXPIRY,
        ",\n        constraint expiry_batch_pkey primary key (country, month, number)",
        "",
        _second("expiry_batch"),
    ),
)
