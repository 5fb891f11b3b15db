"""The accounts of the journal: the published ones, and drafts of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.core.document_text import write_toml
from abacus.documents.types import Record
from abacus.oversight.closing.decide.journal_accounts import ALL, JournalAccounts
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS, AccountsDesk
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class Shown:
    """The accounts of a program in a country, in their latest version."""

    name: str
    version: int
    published_at: datetime
    by: str
    accounts: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class AccountsPage(Page):
    """The published accounts."""

    template: ClassVar[str] = "accounts.html"
    published: Sequence[Shown]
    may_publish: bool


async def accounts(call: Call) -> AccountsPage:
    return AccountsPage(
        title="Accounts of the journal",
        command="abacus accounts list",
        published=[_shown(each) for each in await call.rooms[AccountsDesk].records()],
        may_publish=call.may(Deed.CLOSE_BOOKS, None),
    )


def _shown(record: Record[JournalAccounts]) -> Shown:
    pairs = {kind: (pair.debit, pair.credit) for kind, pair in record.document.accounts.items()}
    label = JOURNAL_ACCOUNTS.name(record.document)
    return Shown(label, record.version.number, record.published_at, record.published_by, pairs)


def _begin(_: Call) -> str:
    return write_toml({"program": ALL, "country": ALL})


ACCOUNTS_DRAFTS: Final = DraftKind(
    kind=JOURNAL_ACCOUNTS,
    desk=lambda rooms: rooms[AccountsDesk],
    about="Each kind of movement is booked on two accounts. The closes of months that follow use them.",
    begin=_begin,
    everywhere=True,
    page=lambda _: "/finance/accounts",
)
