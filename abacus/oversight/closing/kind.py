"""The accounts of the journal, as published documents: the latest version of each program and country is in force."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.decide.version_words import Labels
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.types import Version
from abacus.oversight.closing.decide.journal_accounts import (
    NAME_PATTERN,
    JournalAccounts,
    described,
    read_accounts,
    to_document,
)
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool


async def _read(document: Mapping[str, object], _: None) -> JournalAccounts:
    return read_accounts(document)


def _restore(document: Mapping[str, Any], _: Version) -> JournalAccounts:
    return read_accounts(document)


def _check(_: JournalAccounts, _latest: Iterable[JournalAccounts], _around: None) -> list[Fault]:
    return []


JOURNAL_ACCOUNTS: Final[DocumentKind[JournalAccounts, None]] = DocumentKind(
    word="accounts",
    plural="accounts of the journal",
    noun="set of accounts",
    command="accounts",
    subject="accounts",
    deed=Deed.CLOSE_BOOKS,
    table=Table("journal_accounts", "name"),
    name_field="country",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda accounts: accounts.name,
    name=lambda accounts: accounts.name,
    split_label=Labels("set of accounts", NAME_PATTERN, "GRP.SG").split,
)


async def _nothing(_: Connection) -> None:
    """Accounts are judged by themselves."""


def accounts_desk(pool: Pool, clock: Clock) -> DocumentDesk[JournalAccounts, None]:
    return DocumentDesk(pool, clock, JOURNAL_ACCOUNTS, _nothing)
