"""One search over all rooms, a transfer by its key, and the keys of the keyboard.

A capability brings a `Finder` beside its pages, and takes its place in `finders`.
"""

from typing import Final

from abacus.console.pages.search import keyboard, search, transfer
from abacus.console.web.routes import file, page

SERVED: Final = (
    page("/search", search.search),
    file("/suggestions", search.suggestions),  # a list for the field, and no page
    page("/transfers/{key:path}", transfer.transfer),
    page("/keys", keyboard.keys),
)
