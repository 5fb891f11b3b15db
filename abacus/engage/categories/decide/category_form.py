"""The form of categories: what people fill in. Pure."""

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from abacus.documents.form.types import Choices, Entries, Field, Form, Rows, Text, options
from abacus.engage.categories.decide.tree import CATEGORY_PATTERN, COUNTRY_PATTERN, MOST_CATEGORIES

_CATEGORY: Final = Text(pattern=CATEGORY_PATTERN)


class Countries(NamedTuple):
    """The countries that have a card."""

    names: Collection[str] = ()


CATEGORY_FORM: Final = Form(
    [
        Field(
            name="country",
            sort=Text(pattern=COUNTRY_PATTERN, listed="countries"),
            label="Country",
            required=True,
            example="SG",
        ),
        Field(
            name="categories",
            sort=Entries(
                _CATEGORY, Entries(_CATEGORY, Rows(_CATEGORY, "category", MOST_CATEGORIES), "category"), "category"
            ),
            label="Categories",
            help="The widest, below each the next, and below each of those the narrowest. Each name stands once.",
            required=True,
            example={"food": {"pizza": ["deep-dish", "thin-crust"], "noodles": []}},
        ),
    ]
)


def category_choices(_: Mapping[str, Any], around: Countries) -> Choices:
    return Choices(lists={"countries": options(sorted(around.names))})
