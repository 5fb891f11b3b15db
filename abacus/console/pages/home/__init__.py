"""The first page, and the charts on it."""

from typing import Final

from abacus.console.pages.home import home
from abacus.console.web.routes import page

SERVED: Final = (page("/", home.home),)
