"""The first page, and the charts on it."""

from typing import Final

from abacus.console.pages.home import home

SERVED: Final = (*home.SERVED,)
