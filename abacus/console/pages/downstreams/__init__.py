"""The pages of downstreams."""

from typing import Final

from abacus.console.pages.downstreams.downstreams import DOWNSTREAM_REGISTER
from abacus.console.pages.drafts.register import register_pages

SERVED: Final = register_pages(DOWNSTREAM_REGISTER)
