"""The fields of limits in a form. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.documents.form.types import Amount, Branch, Field, Fixed, Group, OneOf, Whole
from abacus.engage.limits.types import Scope

_SCOPES: Final[Mapping[Scope, tuple[str, str]]] = {
    Scope.OVERALL: ("Altogether", "altogether"),
    Scope.DAY: ("A day", "a day"),
    Scope.MEMBER: ("For each member", "for each member"),
    Scope.MEMBER_DAY: ("For each member and day", "for each member and day"),
}


def bounds(words: str, sort: Whole | Amount, *more: Field) -> Group:
    """One amount in each scope, and more fields beside them."""
    scopes = (
        Field(name=scope.value, sort=sort, label=label, begins="at most", says=f"{words} {said}")
        for scope, (label, said) in _SCOPES.items()
    )
    return Group([*scopes, *more])


def limited(amounts: Sequence[Field]) -> Group:
    """Within limits of some amounts, or without any."""
    without = Field(name="unlimited", sort=Fixed(value=True), label="Unlimited", begins="without", says="any limit")
    return Group([OneOf("bounds", "Limits", [Branch("within limits", amounts), Branch("without any", [without])])])
