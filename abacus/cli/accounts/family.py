"""The accounts of the journal, as the command line calls them."""

from contextlib import nullcontext
from typing import Final

from abacus.cli.documents.family import Family
from abacus.oversight.closing.decide.accounts_form import Known
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS, accounts_desk

FAMILY: Final = Family(
    kind=JOURNAL_ACCOUNTS,
    desk=lambda at: nullcontext(accounts_desk(at.pool, at.clock)),
    offline=Known,
    metavar="PROGRAM.COUNTRY",
    files="Accounts of the journal, in TOML or JSON.",
    drafts="accounts",
    one="a set of accounts",
    nothing_new="the accounts are in the store already",
    sentence=lambda accounts: f"{accounts.name}: accounts of {', '.join(accounts.accounts)}",
)
