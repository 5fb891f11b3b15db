"""`abacus accounts`: the accounts of the journal, published for each program and country."""

from typing import Any, Final

from abacus.cli.accounts.family import FAMILY
from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.types import Record
from abacus.oversight.closing.decide.journal_accounts import JournalAccounts
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS

app = CommandGroup(no_args_is_help=True, help="Accounts of the journal, by program, country and kind of movement.")


def _row(record: Record[JournalAccounts]) -> dict[str, Any]:
    return {
        "name": JOURNAL_ACCOUNTS.label(record),
        "kinds": list(record.document.accounts),
        "published": record.published_at,
        "by": record.published_by,
    }


_ROWS: Final = Rows(title="Accounts of the journal", columns=("name", "kinds", "published", "by"), row=_row)
add_commands(app, FAMILY, _ROWS)
