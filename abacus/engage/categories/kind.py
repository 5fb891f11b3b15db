"""The categories of a country, as published documents: the latest version is in force."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.types import Version
from abacus.engage.categories.decide.category_form import CATEGORY_FORM, category_choices
from abacus.engage.categories.decide.tree import LABELS, Categories, described, parse_categories, to_document
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.countries import Countries
from abacus.pricing.kind import countries_with_cards


async def _read(document: Mapping[str, object], _: Countries) -> Categories:
    return parse_categories(document)


def _restore(document: Mapping[str, Any], version: Version) -> Categories:
    return parse_categories(document).numbered(version.number)


def _check(_: Categories, _latest: Iterable[Categories], _around: Countries) -> list[Fault]:
    return []


CATEGORIES: Final[DocumentKind[Categories, Countries]] = DocumentKind(
    word="categories",
    plural="trees of categories",
    noun="tree of categories",
    command="categories",
    subject="categories",
    deed=Deed.EDIT_OFFERS,
    table=Table("category_tree", "country"),
    name_field="country",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda categories: categories.country,
    name=lambda categories: categories.country,
    split_label=LABELS.split,
    country=lambda categories: categories.country,
    form=CATEGORY_FORM,
    choices=category_choices,
)


class CategoryDesk(DocumentDesk[Categories, Countries]):
    """The desk of the categories of countries."""


def category_desk(pool: Pool, clock: Clock) -> CategoryDesk:
    return CategoryDesk(pool, clock, CATEGORIES, countries_with_cards)
