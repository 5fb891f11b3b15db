"""The form of categories: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.documents.form.of_country import COUNTRY
from abacus.documents.form.types import Choices, Entries, Field, Form, Rows, Text, options
from abacus.engage.categories.decide.tree import CATEGORY_PATTERN, MOST_CATEGORIES
from abacus.pricing.decide.countries import Countries

_CATEGORY: Final = Text(pattern=CATEGORY_PATTERN)


def _said(tree: object) -> str:
    """Each of the widest with what is below it."""
    if not isinstance(tree, Mapping):
        return ", ".join(map(str, tree)) if isinstance(tree, list | tuple) else str(tree)
    return ", ".join(f"{name} ({below})" if (below := _said(each)) else str(name) for name, each in tree.items())


CATEGORY_FORM: Final = Form(
    [
        COUNTRY,
        Field(
            name="categories",
            sort=Entries(
                _CATEGORY, Entries(_CATEGORY, Rows(_CATEGORY, "category", MOST_CATEGORIES), "category"), "category"
            ),
            label="Categories",
            begins="The categories",
            says=lambda tree, _: _said(tree),
            help="The widest, below each the next, and below each of those the narrowest. Each name stands once.",
            required=True,
            example={"food": {"pizza": ["deep-dish", "thin-crust"], "noodles": []}},
        ),
    ]
)


def category_choices(_: Mapping[str, Any], around: Countries) -> Choices:
    return Choices(lists={"countries": options(sorted(around.names))})
