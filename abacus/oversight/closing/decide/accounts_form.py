"""The form of the journal's accounts: a debit and a credit for each kind of movement. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from abacus.documents.form.types import Choices, Field, Form, Group, Option, Pick, Text
from abacus.oversight.closing.decide.journal_accounts import ALL, KINDS, Accounts

_ABOUT: Final[Mapping[str, str]] = {
    "issued": "Points that members earn or are given",
    "exchanged_in": "Points that come from partners' programmes",
    "spent": "Points that members spend",
    "exchanged_out": "Points that leave for partners' programmes",
    "expired": "Points that lapse",
    "reversed": "Awards that are taken back, less spends and exchanges that are given back",
    "adjusted": "Corrections by people",
}
# What comes from another house is paid by it, and what leaves is paid to it.
_EXAMPLES: Final = {
    "exchanged_in": ("1210 Due from partners", "2400 Liability"),
    "exchanged_out": ("2400 Liability", "2410 Due to partners"),
}
_USUAL: Final = ("6100 Expense", "2400 Liability")
_EVERY_PROGRAM: Final = Option(ALL, "every program")
_EVERY_COUNTRY: Final = Option(ALL, "every country")


class Known(NamedTuple):
    """What a set of accounts can choose from: programs and countries that have cards, and accounts that others name."""

    programs: Iterable[str] = ()
    countries: Iterable[str] = ()
    accounts: Iterable[str] = ()


def _booked(pair: Any, _: Mapping[str, Any]) -> str:
    return f"debit {pair['debit']}, credit {pair['credit']}"


def _pair(kind: str) -> Field:
    sides = [
        Field(name=side, sort=Text(listed="accounts"), label=side.capitalize(), required=True, example=example)
        for side, example in zip(Accounts._fields, _EXAMPLES.get(kind, _USUAL), strict=True)
    ]
    return Field(name=kind, sort=Group(sides), label=_ABOUT[kind], begins=f"{_ABOUT[kind]}:", says=_booked)


ACCOUNTS_FORM: Final = Form(
    [
        Field(
            name="program",
            sort=Pick("programs"),
            label="Points of",
            required=True,
            example=ALL,
            begins="For points of",
        ),
        Field(
            name="country",
            sort=Pick("countries"),
            label="Country",
            help="What is not said here is booked as for every country, or else as for every program.",
            required=True,
            example=ALL,
            begins="in",
        ),
        *map(_pair, KINDS),
    ],
    panels=[("For which points", ["program", "country"]), ("How each kind is booked", KINDS)],
)


def accounts_choices(_: Mapping[str, Any], known: Known) -> Choices:
    programs = [_EVERY_PROGRAM, *(Option(each, each) for each in sorted(set(known.programs)))]
    countries = [_EVERY_COUNTRY, *(Option(each, each) for each in sorted(set(known.countries)))]
    accounts = [Option(each, each) for each in sorted(set(known.accounts))]
    return Choices(lists={"programs": programs, "countries": countries, "accounts": accounts})
