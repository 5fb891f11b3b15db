"""The accounts of the journal: a form with a debit and a credit for each kind of movement, published in versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.journal_form import WORDS, document_of, typed_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.desk import DocumentDesk
from abacus.documents.types import Record
from abacus.oversight.closing.decide.journal_accounts import ALL, JournalAccounts
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS, accounts_desk
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardStore

_HERE: Final = "/finance/accounts"


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
    """The published accounts and the fields of one set. `programs` and `countries` name what cards have, and `all`."""

    template: ClassVar[str] = "accounts.html"
    published: Sequence[Shown]
    kinds: Mapping[str, str]
    programs: Sequence[tuple[str, str]]
    countries: Sequence[tuple[str, str]]
    may_publish: bool


async def accounts(call: Call, *, typed: Form | None = None, fault: str | None = None) -> AccountsPage:
    """With the set in the fields that the address names, or the one for all."""
    records = await _desk(call).records()
    cards = [each.card for each in await CardStore(call.premises.pool).all()]
    by_name = {each.document.name: each.document for each in records}
    asked = by_name.get(call.asked("of") or f"{ALL}.{ALL}")
    place = {"program": asked.program, "country": asked.country} if asked is not None else {}
    return AccountsPage(
        title="Accounts of the journal",
        command="abacus accounts list",
        published=[_shown(each) for each in records],
        kinds=WORDS,
        programs=_choices("Every program", {card.program for card in cards}),
        countries=_choices("Every country", {card.scope for card in cards if len(card.scope) == 2}),  # noqa: PLR2004  # a country, no partner
        may_publish=call.may(Deed.CLOSE_BOOKS, None),
        form=typed or Form({**typed_of(asked), **place}, EMPTY.wrong),
        fault=fault,
    )


async def publish(call: Call) -> Page | See:
    """A new version; the closes of months that follow use it."""
    typed, desk = call.form.shown(), _desk(call)
    document = document_of(typed.get("program"), typed.get("country"), typed.typed)
    try:
        draft = await desk.read(document, None)
    except DocumentFaults as faults:
        wrong = {each.path if "." in each.path else f"{each.path}.debit": each.message for each in faults.faults}
        return await accounts(call, typed=typed.but(**wrong))
    differences = [each for each in await desk.differences([draft]) if each.changes]
    if not differences:
        return await accounts(call, typed=typed, fault="These accounts are published already.")
    try:
        (outcome,) = await desk.publish(differences, call.actor)
    except Refused as refused:
        return await accounts(call, typed=typed, fault=str(refused))
    return See(f"{_HERE}?of={draft.name}", f"{outcome.label} is published.")


def _desk(call: Call) -> DocumentDesk[JournalAccounts, None]:
    return accounts_desk(call.premises.pool, call.premises.clock)


def _choices(every: str, names: set[str]) -> list[tuple[str, str]]:
    return [(ALL, every), *((each, each) for each in sorted(names))]


def _shown(record: Record[JournalAccounts]) -> Shown:
    pairs = {kind: (pair.debit, pair.credit) for kind, pair in record.document.accounts.items()}
    label = JOURNAL_ACCOUNTS.name(record.document)
    return Shown(label, record.version.number, record.published_at, record.published_by, pairs)
