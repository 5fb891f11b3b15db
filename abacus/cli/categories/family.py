"""Categories on the command line: their desk, and drafts in files."""

from contextlib import nullcontext
from typing import Final

from abacus.cli.documents.family import Family
from abacus.engage.categories.kind import CATEGORIES, category_desk
from abacus.pricing.decide.countries import Countries

FAMILY: Final = Family(
    kind=CATEGORIES,
    desk=lambda at: nullcontext(category_desk(at.pool, at.clock)),
    offline=Countries,
    metavar="COUNTRY",
    files="Categories of a country, in TOML or JSON.",
    drafts="categories",
    one="the categories of a country",
    nothing_new="the categories are in force already",
    sentence=lambda categories: f"{len(categories.above)} categories of {categories.country}",
)
