"""The accounts of a program's points in a country, as finance publishes them: a pair for each kind of movement. Pure.

    program = "GRP"
    country = "SG"

    [issued]
    debit = "6100 Loyalty expense"
    credit = "2400 Points liability"

`all` stands for every program, or every country. A kind that is left out is booked as for `all`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from abacus.core.document_text import write_toml
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, matching, string
from abacus.core.ids import PROGRAM_PATTERN
from abacus.ledger.types.kinds import KINDS as OF_LEDGER

ALL: Final = "all"
ANY: Final = "*"  # the same in a file of accounts
# The columns of the rollforward.
KINDS: Final = tuple(dict.fromkeys(each.columns.moved for each in OF_LEDGER.values() if each.columns is not None))
NAME_PATTERN: Final = rf"(?:{PROGRAM_PATTERN.strip('^$')}|{ALL})\.(?:[A-Z]{{2}}|{ALL})"
_PROGRAM: Final = re.compile(rf"{PROGRAM_PATTERN.strip('^$')}|{ALL}")
_COUNTRY: Final = re.compile(rf"[A-Z]{{2}}|{ALL}")
_LONGEST: Final = 100


class Accounts(NamedTuple):
    """The two accounts of an entry, for a figure above zero; below zero they change places."""

    debit: str
    credit: str


class JournalAccounts(NamedTuple):
    """The accounts of each kind of movement that has any."""

    program: str
    country: str
    accounts: Mapping[str, Accounts]

    @property
    def name(self) -> str:
        return f"{self.program}.{self.country}"


def read_accounts(document: Mapping[str, object]) -> JournalAccounts:
    """Raises `DocumentFaults`."""
    faults: list[Fault] = []
    fields = Fields(document, "", faults)
    program = fields.read("program", matching(_PROGRAM, f"a program such as GRP, or {ALL}"), "")
    country = fields.read("country", matching(_COUNTRY, f"a country such as SG, or {ALL}"), "")
    found = {kind: _pair(fields.table(kind), kind, faults) for kind in KINDS if kind in document}
    fields.refuse_unknown()
    if not found and not faults:
        faults.append(Fault(KINDS[0], f"name the accounts of a kind at least: {', '.join(KINDS)}"))
    if faults:
        raise DocumentFaults(faults)
    return JournalAccounts(program, country, found)


def to_document(accounts: JournalAccounts) -> dict[str, Any]:
    pairs = {kind: pair._asdict() for kind, pair in accounts.accounts.items()}
    return {"program": accounts.program, "country": accounts.country, **pairs}


def described(accounts: JournalAccounts) -> Iterable[tuple[str, str]]:
    """Each account of each kind."""
    return [
        (f"{kind}.{side}", account)
        for kind, pair in accounts.accounts.items()
        for side, account in pair._asdict().items()
    ]


def mapping_text(documents: Iterable[JournalAccounts]) -> str:
    """The accounts of all programs and countries, as the journal is made with."""
    programs: dict[str, dict[str, object]] = {}
    for each in documents:
        program, country = (ANY if place == ALL else place for place in (each.program, each.country))
        pairs = {kind: pair._asdict() for kind, pair in each.accounts.items()}
        programs.setdefault(program, {})[country] = pairs
    return write_toml(programs)


def _pair(fields: Fields, kind: str, faults: list[Fault]) -> Accounts:
    pair = Accounts(fields.read("debit", _account, ""), fields.read("credit", _account, ""))
    fields.refuse_unknown()
    if pair.debit and pair.debit == pair.credit:
        faults.append(Fault(f"{kind}.credit", "the account of the debit; name another"))
    return pair


def _account(value: object) -> str:
    text = string(value).strip()
    if not text or len(text) > _LONGEST:
        raise Bad(f"name an account, in at most {_LONGEST} characters")
    return text
