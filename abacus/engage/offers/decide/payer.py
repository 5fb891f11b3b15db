"""Who pays, as documents of offers and rewards say it: a cost centre of the house, or a partner. Pure."""

import re
from typing import Final

from abacus.core import fields
from abacus.core.fields import Fields
from abacus.documents.form.types import Branch, Field, Group, OneOf, Text
from abacus.engage.offers.decide.offer import Payer

PAYERS: Final = ("cost_centre", "partner")
PAID_BY: Final = Group(
    [
        OneOf(
            "payer",
            "Who pays",
            [
                Branch(
                    "a cost centre",
                    [Field(name="cost_centre", sort=Text(), label="Cost centre", says="the cost centre {}")],
                ),
                Branch("a partner", [Field(name="partner", sort=Text(), label="Partner", says="the partner {}")]),
            ],
        )
    ]
)

_name: Final = fields.matching(
    re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}"), "is not a name; write at most 64 letters, digits, dots and dashes"
)


def read_payer(top: Fields, *, optional: bool = False) -> Payer | None:
    """Of the table `paid_by`; None where it is not there, or names nobody."""
    table = top.table("paid_by", optional=optional)
    there = [kind for kind in PAYERS if kind in table.values]
    names = {kind: table.read_if_there(kind, _name, "") for kind in PAYERS}
    if not there and not table.is_absent:
        top.note("paid_by", f"nobody; write {' or '.join(PAYERS)}")
    for other in there[1:]:
        table.note(other, f"beside {there[0]}; one of them pays")
    table.refuse_unknown()
    return Payer(there[0], names[there[0]]) if there else None
