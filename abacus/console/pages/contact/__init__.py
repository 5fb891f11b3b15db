"""The pages of contact policies."""

from typing import Final

from abacus.console.pages.contact.contact_policies import CONTACT_REGISTER
from abacus.console.pages.drafts.register import register_pages

SERVED: Final = register_pages(CONTACT_REGISTER)
