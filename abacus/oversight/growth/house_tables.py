"""How tables of people, the log, the console and of processes grow."""

from typing import Final

from abacus.oversight.growth.ledger_tables import EVER, EXPIRER
from abacus.oversight.growth.types import Group, Growth

_CONSOLE: Final = "deleted by the console"

GROWTH: Final = (
    Growth(
        ("audit_log", "audit_head"),
        Group.PEOPLE,
        "each deed of a person",
        EVER,
        "append-only, and a chain under the seals: an entry that is missing is a fault",
    ),
    Growth(
        ("approval",), Group.PEOPLE, "each thing that a second person decides", EVER, "documents are checked against it"
    ),
    Growth(
        ("person", "person_token", "console_password", "console_authenticator"),
        Group.PEOPLE,
        "each person and token",
        EVER,
        "small; the log names them, and a token that has expired lets nobody in",
    ),
    Growth(("erasure",), Group.PEOPLE, "each member who is erased", EVER, "the proof of it, without the member"),
    Growth(
        (
            *("console_session", "console_link", "console_selection", "console_form"),
            *("console_errand", "console_errand_file"),
        ),
        Group.PEOPLE,
        "each sign-in, form and errand",
        "31 days",
        _CONSOLE,
    ),
    Growth(("console_draft",), Group.PEOPLE, "each draft", "until its owner deletes it", "a person's own"),
    Growth(
        ("console_look", "console_alarm"),
        Group.HOUSE,
        "two a minute; each thing that is wrong",
        "1 hour; while it is wrong, and 1 hour",
        _CONSOLE,
    ),
    Growth(
        ("worker_process",),
        Group.HOUSE,
        "each process that runs",
        "while it runs; a week where it ended without a word",
        "deleted by any process",
    ),
    Growth(("queue_failure",), Group.HOUSE, "each queue", "14 days", "deleted by any process"),
    Growth(("rate_limit",), Group.HOUSE, "each caller", EVER, "one row for each; unlogged"),
    Growth(("size_of_day",), Group.HOUSE, "each table and day", "400 days", EXPIRER),
    Growth(("alembic_version",), Group.HOUSE, "nothing: one row", EVER, "the revision of the schema"),
)
