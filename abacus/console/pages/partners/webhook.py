"""A partner's webhook: its address, its secret and its end, each a form that is shown once more; a message of trial.
A secret is shown once, by the page that made it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from abacus.console.errands.types import Order
from abacus.console.pages.forms.form_page import FormDeed, FormPage, begun, sent
from abacus.console.pages.forms.overlap import USUAL, hours_of, overlap_field
from abacus.console.pages.operations.errands import ask
from abacus.console.pages.partners.partner import TRIAL, partner_of, partner_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.console.web.routes import Served, form, page
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, string
from abacus.documents.form.types import Field, Form, Table, Text
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import Webhook
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class WebhookForm(Generic[Value]):
    """One form of the webhook. `read` raises `Bad`; `does` and `before` raise `Refused`."""

    path: str  # behind the partner's
    title: str
    about: str
    submit: str
    command: str
    field: Field
    read: Callable[[Call, str], Value]
    before: Callable[[Call, Value], Awaitable[Table | None]]
    does: Callable[[Call, Value], Awaitable[Page | See]]
    begin: Callable[[Webhook | None], Table] = lambda _: {}

    def served(self) -> tuple[Served, Served]:
        path = f"/partners/{{partner}}/{self.path}"
        return (
            page(path, self._shown, Deed.EDIT_PARTNERS, everywhere=True),
            form(path, self._sent, Deed.EDIT_PARTNERS, everywhere=True),
        )

    async def _shown(self, call: Call) -> FormPage:
        await registered(call, partner_of(call))
        return begun(self._deed(call), self.begin(await _webhook(call)))

    async def _sent(self, call: Call) -> Page | See:
        await registered(call, partner_of(call))
        return await sent(self._deed(call), call.form)

    def _deed(self, call: Call) -> FormDeed[Value]:
        partner_id = partner_of(call)

        def read(document: Table) -> Value:
            faults: list[Fault] = []
            found = Fields(document, "", faults).read(
                self.field.name, lambda value: self.read(call, string(value)), None
            )
            if found is None:
                raise DocumentFaults(faults)
            return found

        async def before(value: Value) -> tuple[str, Table] | None:
            was = await self.before(call, value)
            return None if was is None else ("the webhook now", was)

        return FormDeed(
            title=f"{self.title}: {partner_id}",
            about=self.about,
            path=f"/partners/{partner_id}/{self.path}",
            submit=self.submit,
            command=f"abacus partners webhook {self.command} {partner_id}",
            fields=Form([self.field]),
            read=read,
            before=before,
            does=partial(self.does, call),
        )


async def send_trial(call: Call) -> Page | See:
    """A message of trial is sent by the command, beside the pages."""
    partner_id = partner_of(call)
    await registered(call, partner_id)
    order = Order(TRIAL, partner_id, None, ("partners", "webhook", "test", "--json", "--", partner_id))
    said = Said("A message of trial is on its way; its answer stands under the webhook.", "waiting")
    return await ask(call, order, f"/partners/{partner_id}", said)


def _checked(call: Call, url: str) -> str:
    try:
        return call.rooms[WebhookDesk].checked(url)
    except Refused as fault:
        raise Bad(str(fault)) from None


async def _address_before(call: Call, _: str) -> Table | None:
    webhook = await _webhook(call)
    return None if webhook is None else _address_of(webhook)


def _address_of(webhook: Webhook | None) -> Table:
    return {} if webhook is None else {"url": webhook.url}


async def _set_address(call: Call, url: str) -> Page | See:
    """A webhook that is there keeps its secret, and is used again if it was disabled."""
    partner_id = partner_of(call)
    secret = await call.rooms[WebhookDesk].set(partner_id, url, also=_told(call, did="webhook", url=url))
    if secret is not None:
        return await partner_page(call, partner_id, secret=secret)
    return See(f"/partners/{partner_id}", Said(f"Messages go to {url} from now on, signed as before."))


async def _there(call: Call, _: object) -> None:
    """Raises `Refused` where there is no webhook."""
    await call.rooms[WebhookDesk].store.get(partner_of(call))


async def _new_secret(call: Call, hours: int) -> Page:
    """The secret before signs too, for the hours that are chosen."""
    partner_id = partner_of(call)
    also = _told(call, did="rotate-webhook-secret", overlap_hours=float(hours))
    secret, _ = await call.rooms[WebhookDesk].rotate_secret(partner_id, timedelta(hours=hours), also=also)
    return await partner_page(call, partner_id, secret=secret)


def _own_id(call: Call, typed: str) -> str:
    if typed != partner_of(call):
        raise Bad("that is not the id of this partner")
    return typed


async def _remove(call: Call, partner_id: str) -> See:
    await call.rooms[WebhookDesk].store.remove(partner_id, also=_told(call, did="remove-webhook"))
    return See(f"/partners/{partner_id}", Said("It has no webhook any more. What waited is given up."))


async def _webhook(call: Call) -> Webhook | None:
    try:
        return (await call.rooms[WebhookDesk].store.get(partner_of(call)))[0]
    except Refused:
        return None


def _told(call: Call, **details: Any) -> Also:
    return call.once(call.told(Deed.EDIT_PARTNERS, f"partner:{partner_of(call)}", **details))


ADDRESS: Final = WebhookForm(
    path="webhook",
    title="Webhook",
    about="The partner is told of each of its awards there: that it was posted, or rejected and why. A new webhook gets"
    " a secret, which is shown once; one that is there keeps its own, and is used again where it was disabled.",
    submit="Use this address",
    command="set",
    field=Field(
        name="url",
        sort=Text(),
        label="Address",
        help="An https address of the partner's on the public internet, such as https://hooks.example.com/abacus.",
        required=True,
        begins="Messages go to",
    ),
    read=_checked,
    before=_address_before,
    does=_set_address,
    begin=_address_of,
)
SECRET: Final = WebhookForm(
    path="webhook-secret",
    title="Another secret",
    about="It signs each message from now on, and is shown once. The secret so far may sign beside it for a while.",
    submit="Make another secret",
    command="rotate-secret",
    field=overlap_field("the partner"),
    read=lambda _, chosen: hours_of(chosen),
    before=_there,
    does=_new_secret,
    begin=lambda _: USUAL,
)
END: Final = WebhookForm(
    path="webhook-end",
    title="Remove the webhook",
    about="Nobody is told any more what becomes of the partner's awards. Messages that wait are given up.",
    submit="Remove it",
    command="remove",
    field=Field(
        name="partner", sort=Text(), label="The partner's id", required=True, begins="No messages any more go to"
    ),
    read=_own_id,
    before=_there,
    does=_remove,
)
