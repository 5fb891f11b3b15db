"""The pages of places."""

from typing import Final

from abacus.console.pages.drafts.register import register_pages
from abacus.console.pages.places.maps import MAP_REGISTER

SERVED: Final = register_pages(MAP_REGISTER)
