"""A partner's webhook: its address, its secret, and a message of trial. A secret is shown once, by the page that made
it.
"""

from datetime import timedelta
from typing import Any

from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import ask
from abacus.console.pages.partners.partner import OVERLAPS, TRIAL, partner_of, partner_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also


async def set_address(call: Call) -> Page | See:
    """A webhook that is there keeps its secret, and is used again if it was disabled."""
    partner_id, desk = partner_of(call), call.rooms[WebhookDesk]
    await registered(call, partner_id)
    try:
        url = desk.checked(call.form.get("url"))
        secret = await desk.set(partner_id, url, also=_told(call, partner_id, did="webhook", url=url))
    except Refused as fault:
        return await partner_page(call, partner_id, call.form.shown().but(url=f"{fault}."))
    if secret is not None:
        return await partner_page(call, partner_id, secret=secret)
    return See(f"/partners/{partner_id}", Said(f"Messages go to {url} from now on, signed as before."))


async def new_secret(call: Call) -> Page | See:
    """The one before signs too, for the hours that are chosen."""
    partner_id, chosen = partner_of(call), call.form.get("signs_too")
    await registered(call, partner_id)
    if chosen not in dict(OVERLAPS):
        return await partner_page(call, partner_id, call.form.shown().but(signs_too="Choose one."))
    hours = int(chosen)
    also = _told(call, partner_id, did="rotate-webhook-secret", overlap_hours=float(hours))
    try:
        secret, _ = await call.rooms[WebhookDesk].rotate_secret(partner_id, timedelta(hours=hours), also=also)
    except Refused as fault:
        return await partner_page(call, partner_id, fault=f"{fault}.")
    return await partner_page(call, partner_id, secret=secret)


async def remove(call: Call) -> Page | See:
    partner_id = partner_of(call)
    await registered(call, partner_id)
    if call.form.get("partner") != partner_id:
        wrong = call.form.shown().but(partner="Type the partner's id: what waits is given up.")
        return await partner_page(call, partner_id, wrong)
    try:
        await call.rooms[WebhookDesk].store.remove(partner_id, also=_told(call, partner_id, did="remove-webhook"))
    except Refused as fault:
        return await partner_page(call, partner_id, fault=f"{fault}.")
    return See(f"/partners/{partner_id}", Said("It has no webhook any more. What waited is given up."))


async def send_trial(call: Call) -> Page | See:
    """A message of trial is sent by the command, beside the pages."""
    partner_id = partner_of(call)
    await registered(call, partner_id)
    order = Order(TRIAL, partner_id, None, ("partners", "webhook", "test", "--json", "--", partner_id))
    said = Said("A message of trial is on its way; its answer stands under the webhook.", "waiting")
    return await ask(call, order, f"/partners/{partner_id}", said)


def _told(call: Call, partner_id: str, **details: Any) -> Also:
    return call.once(call.told(Deed.EDIT_PARTNERS, f"partner:{partner_id}", **details))
