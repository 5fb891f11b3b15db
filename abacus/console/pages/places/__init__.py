"""The pages of places."""

from typing import Final

from abacus.console.pages.drafts.register import register_pages
from abacus.console.pages.places import map_page
from abacus.console.pages.places.maps import MAP_REGISTER, country_map
from abacus.console.web.routes import page

SERVED: Final = (page("/places/{document}/map", map_page.of_country), *register_pages(MAP_REGISTER, country_map))
