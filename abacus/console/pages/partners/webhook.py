"""A partner's webhook: its address, its secret and its end, each a form that is shown once more; a test message.
A secret is shown once, by the page that made it.
"""

from datetime import timedelta
from typing import Any, Final

from abacus.console.errands.types import Order
from abacus.console.pages.forms.form_page import FormDeed, one_field
from abacus.console.pages.forms.overlap import USUAL, overlap_field, read_overlap
from abacus.console.pages.operations.errands import ask
from abacus.console.pages.partners.partner import TRIAL, partner_of, partner_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.core.fields import Bad, string
from abacus.documents.form.types import Field, Form, Table, Text
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also

_ADDRESS: Final = Field(
    name="url",
    sort=Text(),
    label="Address",
    help="An https address of the partner's on the public internet, such as https://hooks.example.com/abacus.",
    required=True,
    begins="Messages go to",
)
_OWN_ID: Final = Field(
    name="partner", sort=Text(), label="The partner's id", required=True, begins="No messages any more go to"
)


async def address(call: Call) -> FormDeed[str]:
    partner_id = await _known(call)
    now = await _address(call, partner_id)

    def checked(value: object) -> str:
        try:
            return call.rooms[WebhookDesk].checked(string(value))
        except Refused as fault:
            raise Bad(str(fault)) from None

    async def before(_: str) -> tuple[str, Table] | None:
        return ("the webhook now", now) if now else None

    async def does(url: str) -> Page | See:
        """A webhook that is there keeps its secret, and is used again if it was disabled."""
        secret = await call.rooms[WebhookDesk].set(partner_id, url, also=_told(call, did="webhook", url=url))
        if secret is not None:
            return await partner_page(call, partner_id, secret=secret)
        return See(f"/partners/{partner_id}", Said(f"Messages go to {url} from now on, signed as before."))

    return FormDeed(
        title=f"Webhook: {partner_id}",
        about="The partner is told of each of its awards there: that it was posted, or rejected and why. A new webhook"
        " gets a secret, which is shown once; one that is there keeps its own, and is used again if it was disabled.",
        path=f"/partners/{partner_id}/webhook",
        submit="Use this address",
        command=f"abacus partners webhook set {partner_id}",
        fields=Form([_ADDRESS]),
        begins=now,
        read=one_field("url", checked, ""),
        before=before,
        does=does,
        back=f"/partners/{partner_id}",
    )


async def secret(call: Call) -> FormDeed[int]:
    partner_id = await _known(call)

    async def there(_: int) -> None:
        """Raises `Refused` where there is no webhook."""
        await call.rooms[WebhookDesk].store.get(partner_id)

    async def does(hours: int) -> Page:
        also = _told(call, did="rotate-webhook-secret", overlap_hours=float(hours))
        made, _ = await call.rooms[WebhookDesk].rotate_secret(partner_id, timedelta(hours=hours), also=also)
        return await partner_page(call, partner_id, secret=made)

    return FormDeed(
        title=f"Another secret: {partner_id}",
        about="It signs each message from now on, and is shown once. The secret so far may sign beside it for a while.",
        path=f"/partners/{partner_id}/webhook-secret",
        submit="Make another secret",
        command=f"abacus partners webhook rotate-secret {partner_id}",
        fields=Form([overlap_field("the partner")]),
        begins=USUAL,
        read=read_overlap,
        before=there,
        does=does,
        back=f"/partners/{partner_id}",
    )


async def end(call: Call) -> FormDeed[str]:
    partner_id = await _known(call)

    def own_id(value: object) -> str:
        if value != partner_id:
            raise Bad("that is not the id of this partner")
        return partner_id

    async def does(_: str) -> See:
        await call.rooms[WebhookDesk].store.remove(partner_id, also=_told(call, did="remove-webhook"))
        return See(f"/partners/{partner_id}", Said("It has no webhook any more. What waited is given up."))

    return FormDeed(
        title=f"Remove the webhook: {partner_id}",
        about="Nobody is told any more what becomes of the partner's awards. Messages that wait are given up.",
        path=f"/partners/{partner_id}/webhook-end",
        submit="Remove it",
        command=f"abacus partners webhook remove {partner_id}",
        fields=Form([_OWN_ID]),
        read=one_field("partner", own_id, ""),
        does=does,
        back=f"/partners/{partner_id}",
        is_final=True,
    )


async def send_trial(call: Call) -> Page | See:
    """A test message is sent by the command, beside the pages."""
    partner_id = await _known(call)
    order = Order(TRIAL, partner_id, None, ("partners", "webhook", "test", "--json", "--", partner_id))
    said = Said("A test message is on its way; its answer stands under the webhook.", "waiting")
    return await ask(call, order, f"/partners/{partner_id}", said)


async def _known(call: Call) -> str:
    """The partner's id. Raises `PageFault` where there is no such partner."""
    return (await registered(call, partner_of(call))).partner.partner_id


async def _address(call: Call, partner_id: str) -> Table:
    """As the form has it; empty where there is no webhook."""
    try:
        webhook, _ = await call.rooms[WebhookDesk].store.get(partner_id)
    except Refused:
        return {}
    return {"url": webhook.url}


def _told(call: Call, **details: Any) -> Also:
    return call.once(call.told(Deed.EDIT_PARTNERS, f"partner:{partner_of(call)}", **details))
