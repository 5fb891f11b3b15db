"""The accounts of the journal, as published documents: the latest version of each program and country is in force."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.decide.version_words import Labels
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.store import Reader
from abacus.documents.types import Version, documents
from abacus.oversight.closing.decide.accounts_form import ACCOUNTS_FORM, Known, accounts_choices
from abacus.oversight.closing.decide.journal_accounts import (
    NAME_PATTERN,
    JournalAccounts,
    described,
    read_accounts,
    to_document,
)
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool
from abacus.pricing.decide.card import country_of
from abacus.pricing.kind import CARDS


async def _read(document: Mapping[str, object], _: Known) -> JournalAccounts:
    return read_accounts(document)


def _restore(document: Mapping[str, Any], _: Version) -> JournalAccounts:
    return read_accounts(document)


def _check(_: JournalAccounts, _latest: Iterable[JournalAccounts], _around: Known) -> list[Fault]:
    return []


JOURNAL_ACCOUNTS: Final[DocumentKind[JournalAccounts, Known]] = DocumentKind(
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
    form=ACCOUNTS_FORM,
    choices=accounts_choices,
)


class AccountsDesk(DocumentDesk[JournalAccounts, Known]):
    """The desk of the journal's accounts."""


async def _known(connection: Connection) -> Known:
    """Accounts are judged by themselves; what there is to choose from stands in the cards and in other accounts."""
    cards = documents(await Reader(CARDS).latest(connection))
    published = documents(await Reader(JOURNAL_ACCOUNTS).latest(connection))
    return Known(
        [each.program for each in cards],
        [country for each in cards if (country := country_of(each.scope)) is not None],
        [name for each in published for pair in each.accounts.values() for name in pair],
    )


def accounts_desk(pool: Pool, clock: Clock) -> AccountsDesk:
    return AccountsDesk(pool, clock, JOURNAL_ACCOUNTS, _known)
