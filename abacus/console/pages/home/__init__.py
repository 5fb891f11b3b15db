"""The first page, of cards, and the page of points by time."""

from typing import Final

from abacus.console.pages.home import home, points
from abacus.console.web.routes import page

SERVED: Final = (page("/", home.home), page("/pulse", points.pulse))
