"""The pages of event sources."""

from typing import Final

from abacus.console.pages.drafts.register import register_pages
from abacus.console.pages.events.sources import SOURCE_REGISTER

SERVED: Final = register_pages(SOURCE_REGISTER)
