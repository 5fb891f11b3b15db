"""The pages of the categories of countries."""

from typing import Final

from abacus.console.pages.categories.categories import CATEGORY_REGISTER, categories
from abacus.console.pages.drafts.register import register_pages

SERVED: Final = register_pages(CATEGORY_REGISTER, categories)
