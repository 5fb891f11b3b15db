"""A partner's keys: another one, which is shown once by the page that made it, and whether they are let in."""

from datetime import timedelta
from typing import Any, Final

from abacus.console.pages.forms.form_page import FormDeed, one_field
from abacus.console.pages.forms.overlap import HOURS, hours_of
from abacus.console.pages.partners.partner import partner_of, partner_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.core.fields import string
from abacus.documents.form.types import Choice, Field, Form, Option, Table
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.store import PartnerStore
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also

_STAYS: Final = Field(
    name="stays",
    sort=Choice([Option(hours, words) for hours, words in HOURS]),
    label="The key so far stays valid for",
    help="Older keys end now.",
    required=True,
    begins="A new key is made. The key so far stays valid for",
)
_USUAL: Final[Table] = {"stays": "24"}


async def new_key(call: Call) -> FormDeed[int]:
    partner_id = partner_of(call)
    name = (await registered(call, partner_id)).partner.name

    async def does(hours: int) -> Page:
        key, also = LIVE_KEY.new(), _told(call, partner_id, did="rotate-key", overlap_hours=hours)
        await call.rooms[PartnerStore].rotate(partner_id, key, overlap=timedelta(hours=hours), also=also)
        return await partner_page(call, partner_id, key=key)

    return FormDeed(
        title=f"Another key of {name}",
        about="It is shown once, to be handed over.",
        path=f"/partners/{partner_id}/new-key",
        submit="Make a new key",
        command=f"abacus partners rotate-key {partner_id}",
        fields=Form([_STAYS]),
        begins=_USUAL,
        read=one_field("stays", lambda value: hours_of(string(value)), 0),
        does=does,
        back=f"/partners/{partner_id}",
    )


async def refusal(call: Call) -> FormDeed[None]:
    partner_id = partner_of(call)
    name = (await registered(call, partner_id)).partner.name

    async def does(_: None) -> See:
        await call.rooms[PartnerStore].disable(partner_id, also=_told(call, partner_id, did="disable"))
        return See(f"/partners/{partner_id}", Said("All its keys are refused from now on."))

    return FormDeed(
        title=f"Refuse all keys of {name}",
        about="The partner asks for nothing any more, until its keys are let in again.",
        path=f"/partners/{partner_id}/disable",
        submit="Refuse all its keys",
        command=f"abacus partners disable {partner_id}",
        fields=Form([]),
        read=lambda _: None,
        does=does,
        notes=["Every request of the partner is refused, within seconds. Awards that were accepted are still posted."],
        back=f"/partners/{partner_id}",
        is_final=True,
    )


async def enable(call: Call) -> See:
    partner_id = partner_of(call)
    await registered(call, partner_id)
    await call.rooms[PartnerStore].enable(partner_id, also=_told(call, partner_id, did="enable"))
    return See(f"/partners/{partner_id}", Said("Its keys are let in again."))


def _told(call: Call, partner_id: str, **details: Any) -> Also:
    return call.once(call.told(Deed.EDIT_PARTNERS, f"partner:{partner_id}", **details))
