"""Partners: their rights and keys, their limits with what was used of them, and their webhooks. A partner stands in no
country, so they are for people who may see every country.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import DoneBefore
from abacus.console.web.page import Page, Said, See
from abacus.console.web.parts import Part
from abacus.core.errors import Refused
from abacus.core.tokens import NewToken
from abacus.intake.partners.decide.partner import PartnerKey
from abacus.intake.partners.store import PartnerStore, Registered
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import Delivered, Undelivered, UndeliveredCounts, Webhook
from abacus.people.types.deed import Deed

_MOST_WAITING: Final = 50
_MOST_ARRIVED: Final = 10
TRIAL: Final = "webhook trial"
RIGHTS: Final[Mapping[str, str]] = {
    "fixed_points": "award points that it names",
    "computed_points": "send transactions to be computed",
    "may_spend": "spend and hold",
    "may_adjust": "adjust and take back",
    "may_see_others": "see others' transfers",
    "may_count": "read counters",
    "may_read_members": "see the points of any member",
    "may_use_offers": "ask for offers and take them",
    "may_explain_offers": "be told why offers fail",
    "may_load_places": "load places and regions",
    "may_send_positions": "say where members are",
    "may_exchange": "bring points of its members",
}
LIMITS: Final[Mapping[str, str]] = {
    "per_award": "Points in one award",
    "per_member_day": "Points for one member in a day",
    "per_day": "Points in a day",
    "in_total": "Points in all",
}


@dataclass(frozen=True)
class Key:
    """A key, as far as it is known: its beginning."""

    prefix: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    holds: bool


@dataclass(frozen=True)
class Limited:
    """A limit, and what was used of it; None where that is not counted as a whole."""

    field: str
    name: str
    limit: int | None
    used: int | None


@dataclass(frozen=True)
class Shown:
    """A partner, without its secrets. `sources` is None if it may name any."""

    partner_id: str
    name: str
    rights: Sequence[str]
    may: Sequence[str]
    countries: Sequence[str]
    sources: Sequence[str] | None
    card_scope: str | None
    signed: bool
    requests_per_minute: int
    created_at: datetime
    created_by: str
    disabled_at: datetime | None
    keys: Sequence[Key]
    limits: Sequence[Limited]


@dataclass(frozen=True)
class Hook:
    """A webhook, its messages that did not arrive, the oldest first, some that did, the newest first, and its last
    trial.
    """

    webhook: Webhook
    counts: UndeliveredCounts
    undelivered: Sequence[Undelivered]
    delivered: Sequence[Delivered]
    trial: Done | None


@dataclass(frozen=True, kw_only=True)
class PartnersPage(Page):
    """All partners."""

    template: ClassVar[str] = "partners.html"
    partners: Sequence[Shown]
    may_edit: bool


@dataclass(frozen=True, kw_only=True)
class PartnerPage(Page):
    """One partner. Its webhook is None within the part where there is none. `new_key` and `new_secret`, of the webhook,
    are there when they are made. `country` is one where it may award.
    """

    template: ClassVar[str] = "partner.html"
    partner: Shown
    hook: Part[Hook | None]
    country: str | None
    may_send: bool
    may_edit: bool
    may_limit: bool
    new_key: str | None = None
    new_secret: str | None = None


async def partners(call: Call) -> PartnersPage:
    found = await call.rooms[PartnerStore].all()
    return PartnersPage(
        title="Partners",
        command="abacus partners list",
        partners=[_shown(each, call.now) for each in found],
        may_edit=call.may(Deed.EDIT_PARTNERS, None),
    )


async def partner(call: Call) -> PartnerPage:
    return await partner_page(call, partner_of(call))


async def send_again(call: Call) -> Page | See:
    """Every message that did not arrive is due now."""
    partner_id, said = partner_of(call), Said("They are due now, and tried for three days more.")
    store = call.rooms[WebhookDesk].store
    also = call.told(Deed.REPLAY, f"partner:{partner_id}", did="retry-webhook", ids=None, enable=False)
    try:
        await store.retry(partner_id, (), enable=False, also=call.once(also))
    except DoneBefore:
        pass
    except Refused as error:
        return await partner_page(call, partner_id, fault=str(error))
    return See(f"/partners/{partner_id}", said)


def partner_of(call: Call) -> str:
    return str(call.request.path_params["partner"])


async def registered(call: Call, partner_id: str) -> Registered:
    """Raises `PageFault` where there is no such partner."""
    try:
        return await call.rooms[PartnerStore].get(partner_id)
    except Refused:
        raise PageFault("not-found", "There is no such partner.") from None


async def partner_page(
    call: Call,
    partner_id: str,
    *,
    key: NewToken | None = None,
    secret: str | None = None,
    fault: str | None = None,
) -> PartnerPage:
    """Raises `PageFault` where there is no such partner."""
    found = await registered(call, partner_id)
    hook: Part[Any] = await call.part(_hook(call, partner_id))
    return PartnerPage(
        title=found.partner.name,
        command=f"abacus partners show {partner_id}",
        partner=_shown(found, call.now),
        hook=hook,
        country=next(iter((*found.partner.countries, *call.premises.countries())), None),
        may_send=call.may(Deed.REPLAY, None),
        may_edit=call.may(Deed.EDIT_PARTNERS, None),
        may_limit=call.may(Deed.EDIT_LIMITS, None),
        new_key=key.text if key is not None else None,
        new_secret=secret,
        fault=fault,
    )


async def _hook(call: Call, partner_id: str) -> Hook | None:
    store = call.rooms[WebhookDesk].store
    try:
        webhook, counts = await store.get(partner_id)
    except Refused:
        return None
    undelivered = await store.undelivered(partner_id, _MOST_WAITING)
    delivered = await store.delivered(partner_id, _MOST_ARRIVED)
    return Hook(webhook, counts, undelivered, delivered, await newest(call, TRIAL, partner_id))


def _shown(registered: Registered, now: datetime) -> Shown:
    partner, allowance = registered.partner, registered.allowance
    today = allowance.used_that_day if allowance.day == now.date() else 0
    limits, used = allowance.limits, {"per_day": today, "in_total": allowance.used}
    return Shown(
        partner_id=partner.partner_id,
        name=partner.name,
        rights=[name for name in RIGHTS if getattr(partner, name)],
        may=[words for name, words in RIGHTS.items() if getattr(partner, name)],
        countries=partner.countries,
        sources=partner.sources,
        card_scope=partner.card_scope,
        signed=partner.signing_secret is not None,
        requests_per_minute=partner.requests_per_minute,
        created_at=partner.created_at,
        created_by=partner.created_by,
        disabled_at=partner.disabled_at,
        keys=[_key(each, now) for each in registered.keys],
        limits=[Limited(name, words, getattr(limits, name), used.get(name)) for name, words in LIMITS.items()],
    )


def _key(key: PartnerKey, now: datetime) -> Key:
    return Key(key.prefix, key.created_at, key.expires_at, key.last_used_at, key.holds(now))
