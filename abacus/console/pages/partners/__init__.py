"""The pages of partners."""

from typing import Final

from abacus.console.pages.partners import partner, partner_changes, partner_requests, webhook
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/partners", partner.partners, everywhere=True),
    page("/partners/{partner}", partner.partner, everywhere=True),
    form("/partners/{partner}/send-again", partner.send_again, Deed.REPLAY, everywhere=True),
    form("/partners", partner_changes.create, Deed.EDIT_PARTNERS, everywhere=True),
    form("/partners/{partner}/rights", partner_changes.set_rights, Deed.EDIT_PARTNERS, everywhere=True),
    form("/partners/{partner}/limits", partner_changes.set_limits, Deed.EDIT_LIMITS, everywhere=True),
    form("/partners/{partner}/new-key", partner_changes.give_key, Deed.EDIT_PARTNERS, everywhere=True),
    form("/partners/{partner}/disable", partner_changes.disable, Deed.EDIT_PARTNERS, everywhere=True),
    form("/partners/{partner}/enable", partner_changes.enable, Deed.EDIT_PARTNERS, everywhere=True),
    *webhook.ADDRESS.served(),
    *webhook.SECRET.served(),
    *webhook.END.served(),
    form("/partners/{partner}/try-webhook", webhook.send_trial, Deed.EDIT_PARTNERS, everywhere=True),
    page("/partners/{partner}/requests", partner_requests.requests, everywhere=True),
)
