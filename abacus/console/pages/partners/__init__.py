"""The pages of partners."""

from typing import Final

from abacus.console.pages.partners import partner, partner_changes, partner_requests

SERVED: Final = (*partner.SERVED, *partner_changes.SERVED, *partner_requests.SERVED)
