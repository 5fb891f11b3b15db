"""The form of the journal's accounts: a debit and a credit for each kind of movement. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.oversight.closing.decide.journal_accounts import KINDS, JournalAccounts

WORDS: Final[Mapping[str, str]] = {
    "issued": "Points that members earn or are given",
    "spent": "Points that members spend",
    "expired": "Points that lapse",
    "reversed": "Awards that are taken back, less spends that are given back",
    "adjusted": "Corrections by people",
}
SIDES: Final = ("debit", "credit")


def typed_of(accounts: JournalAccounts | None) -> dict[str, str]:
    """What the fields hold before anybody types; of no accounts, nothing."""
    if accounts is None:
        return {}
    pairs = accounts.accounts.items()
    return {f"{kind}.{side}": name for kind, pair in pairs for side, name in pair._asdict().items()}


def document_of(program: str, country: str, typed: Mapping[str, str]) -> dict[str, Any]:
    """Kinds without any account are left out."""
    pairs = {kind: {side: typed.get(f"{kind}.{side}", "") for side in SIDES} for kind in KINDS}
    return {
        "program": program,
        "country": country,
        **{kind: pair for kind, pair in pairs.items() if any(pair.values())},
    }
