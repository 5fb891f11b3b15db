"""The pages of partners."""

from typing import Final

from abacus.console.pages.forms.form_page import form_pages
from abacus.console.pages.partners import partner, partner_forms, partner_keys, partner_requests, webhook
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/partners", partner.partners, everywhere=True),
    page("/partners/{partner}", partner.partner, everywhere=True),
    form("/partners/{partner}/send-again", partner.send_again, Deed.REPLAY, everywhere=True),
    *form_pages("/partners-enter", Deed.EDIT_PARTNERS, partner_forms.entering),
    *form_pages("/partners/{partner}/rights", Deed.EDIT_PARTNERS, partner_forms.rights),
    *form_pages("/partners/{partner}/limits", Deed.EDIT_LIMITS, partner_forms.limits),
    *form_pages("/partners/{partner}/new-key", Deed.EDIT_PARTNERS, partner_keys.new_key),
    *form_pages("/partners/{partner}/disable", Deed.EDIT_PARTNERS, partner_keys.refusal),
    form("/partners/{partner}/enable", partner_keys.enable, Deed.EDIT_PARTNERS, everywhere=True),
    *form_pages("/partners/{partner}/webhook", Deed.EDIT_PARTNERS, webhook.address),
    *form_pages("/partners/{partner}/webhook-secret", Deed.EDIT_PARTNERS, webhook.secret),
    *form_pages("/partners/{partner}/webhook-end", Deed.EDIT_PARTNERS, webhook.end),
    form("/partners/{partner}/try-webhook", webhook.send_trial, Deed.EDIT_PARTNERS, everywhere=True),
    page("/partners/{partner}/requests", partner_requests.requests, everywhere=True),
)
