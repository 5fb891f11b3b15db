"""Which accounts of the general ledger a kind of movement is booked on, as finance writes it down in TOML. Pure.

    [GRP.SG.issued]
    debit = "6100 Loyalty expense"
    credit = "2400 Points liability"

`"*"` stands for every program, or every country; the closest entry counts, and the program before the country.
"""

import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from abacus.core.errors import Refused
from abacus.oversight.closing.decide.journal_accounts import ANY, Accounts
from abacus.oversight.reports.decide.rollforward import SIGNS


class Mapped(NamedTuple):
    """The entries of a file, by program, country and kind."""

    entries: Mapping[tuple[str, str, str], Accounts]

    def accounts(self, program: str, country: str, kind: str) -> Accounts:
        """Raises `Refused` for a kind that is not mapped."""
        for place in ((program, country), (program, ANY), (ANY, country), (ANY, ANY)):
            accounts = self.entries.get((*place, kind))
            if accounts is not None:
                return accounts
        raise Refused(
            f"no accounts for {kind} of {program} in {country}; add [{program}.{country}.{kind}] to the mapping"
        )


def read_mapping(text: str) -> Mapped:
    """Raises `Refused` with the first entry that is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"the mapping is no TOML: {error}") from None
    entries: dict[tuple[str, str, str], Accounts] = {}
    for program, countries in document.items():
        for country, kinds in _table(countries, program).items():
            for kind, accounts in _table(kinds, f"{program}.{country}").items():
                entries[program, country, kind] = _accounts(accounts, f"{program}.{country}.{kind}", kind)
    return Mapped(entries)


def _accounts(value: Any, place: str, kind: str) -> Accounts:
    if kind not in SIGNS:
        raise Refused(f"[{place}]: {kind!r} is no column of the rollforward; these are {', '.join(SIGNS)}")
    named = _table(value, place)
    if named.keys() != set(Accounts._fields) or not all(isinstance(name, str) and name for name in named.values()):
        raise Refused(f"[{place}]: name the two accounts, debit and credit, and nothing else")
    if named["debit"] == named["credit"]:
        raise Refused(f"[{place}]: debit and credit are the same account")
    return Accounts(**named)


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused(f"[{place}]: an entry is written [PROGRAM.COUNTRY.KIND], with debit and credit")
    return value
