"""What is changed about a partner: its rights, its limits, its keys, and whether it is let in. A limit that allows more
than before takes a second person. A new key is shown once, by the page that made it.
"""

import re
from datetime import timedelta
from typing import Any, Final, cast

from abacus.approving.executors import limits_proposal
from abacus.console.decide.typed import number
from abacus.console.pages.partners.partner import RIGHTS, partner_of, partner_page, partners_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.core.points import MAX_POINTS
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner, RightsChange
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also

_OF_OPTION: Final = re.compile(r"--([a-z-]+): (.*)", re.DOTALL)
_LONGEST_OVERLAP_H: Final = 24 * 90
_USUAL_OVERLAP_H: Final = 24


async def create(call: Call) -> Page | See:
    """With every right that is ticked, no limits, and one key."""
    partner_id, key = call.form.get("partner"), LIVE_KEY.new()
    change = _rights(call.form)
    if isinstance(change, Form):
        return await partners_page(call, change)
    made = Partner(
        **{"card_scope": None, "requests_per_minute": 60_000, **change},  # type: ignore[arg-type]  # as typed there
        partner_id=partner_id,
        signing_secret=None,
        created_at=call.now,
        created_by=call.actor.source,
        disabled_at=None,
    )
    also = _told(call, partner_id, did="create", **change)
    try:
        await call.rooms[PartnerStore].create(made, Limits(), key, also=call.once(also))
    except Refused as fault:
        return await partners_page(call, _beside(call.form, fault))
    return await partner_page(call, partner_id, key=key)


async def set_rights(call: Call) -> Page | See:
    partner_id, change = partner_of(call), _rights(call.form)
    if isinstance(change, Form):
        return await partner_page(call, partner_id, change)
    if not change["sources"] and (await registered(call, partner_id)).partner.sources is None:
        del change["sources"]  # it may name any, from before there were sources: nobody has taken that away
    also = _told(call, partner_id, did="set", **change)
    try:
        await call.rooms[PartnerStore].change(partner_id, change, also=call.once(also))
    except Refused as fault:
        return await partner_page(call, partner_id, _beside(call.form, fault))
    return _back(partner_id, "Its rights are changed, and hold from now on.")


async def set_limits(call: Call) -> Page | See:
    """All of them, as they are typed: an empty field is no limit."""
    partner_id, typed = partner_of(call), call.form.shown()
    given: dict[str, int | None] = {}
    for name in Limits._fields:
        given[name] = number(typed.get(name), MAX_POINTS)
        if typed.get(name) and given[name] is None:
            typed = typed.but(**{name: f"A whole number up to {MAX_POINTS:,}, or nothing for no limit."})
    if typed.wrong:
        return await partner_page(call, partner_id, typed)
    after = Limits(**given)
    before = (await registered(call, partner_id)).allowance.limits
    if after.allows_more_than(before):
        proposal = limits_proposal(partner_id, before, after)
        approval = await call.rooms[Approvals].ask(proposal, call.actor.agent)
        more = "Nothing has changed yet: a limit that allows more needs a second person."
        return See(f"/approvals/{approval.approval_id}", Said(more, "waiting"))
    also = call.told(Deed.EDIT_LIMITS, f"partner:{partner_id}", before=before._asdict(), after=after._asdict())
    await call.rooms[PartnerStore].limit(partner_id, after, also=call.once(also))
    return _back(partner_id, "Its limits are changed, and hold from now on.")


async def give_key(call: Call) -> Page | See:
    """The key so far stays valid for the hours that are typed; older ones end now."""
    partner_id, typed, key = partner_of(call), call.form.shown(), LIVE_KEY.new()
    hours = number(typed.get("overlap") or str(_USUAL_OVERLAP_H), _LONGEST_OVERLAP_H)
    if hours is None:
        return await partner_page(
            call, partner_id, typed.but(overlap=f"A whole number of hours, up to {_LONGEST_OVERLAP_H:,}.")
        )
    also = _told(call, partner_id, did="rotate-key", overlap_hours=hours)
    await registered(call, partner_id)
    await call.rooms[PartnerStore].rotate(partner_id, key, overlap=timedelta(hours=hours), also=call.once(also))
    return await partner_page(call, partner_id, key=key)


async def disable(call: Call) -> Page | See:
    partner_id = partner_of(call)
    await registered(call, partner_id)
    await call.rooms[PartnerStore].disable(partner_id, also=_told(call, partner_id, did="disable"))
    return _back(partner_id, "All its keys are refused from now on.")


async def enable(call: Call) -> Page | See:
    partner_id = partner_of(call)
    await registered(call, partner_id)
    await call.rooms[PartnerStore].enable(partner_id, also=_told(call, partner_id, did="enable"))
    return _back(partner_id, "Its keys are let in again.")


def _back(partner_id: str, text: str) -> See:
    return See(f"/partners/{partner_id}", Said(text))


def _told(call: Call, partner_id: str, **details: Any) -> Also:
    return call.told(Deed.EDIT_PARTNERS, f"partner:{partner_id}", **details)


def _rights(typed: Form) -> RightsChange | Form:
    """The rights as they are typed, or the form with its faults. The store looks whether they make sense."""
    requests = number(typed.get("requests-per-minute") or "60000", MAX_POINTS)
    if requests is None:
        return typed.shown().but(**{"requests-per-minute": "A whole number is needed."})
    ticked = set(typed.get("may[]").split())
    change: Any = {
        **{name: name in ticked for name in RIGHTS},
        "name": typed.get("name"),
        "countries": _words(typed.get("country[]")),
        "sources": _words(f"{typed.get('source[]')} {typed.get('source')}"),
        "card_scope": typed.get("card") or None,
        "requests_per_minute": requests,
    }
    return cast("RightsChange", change)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def _beside(typed: Form, fault: Refused) -> Form:
    """The fault beside the field that the command calls so, or else beside the name."""
    named = _OF_OPTION.fullmatch(str(fault))
    return typed.shown().but(**({named[1]: named[2]} if named else {"name": str(fault)}))
