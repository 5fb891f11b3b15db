"""What a partner may do, and how many points it may award: forms that are shown once more. A limit that allows more
than before takes a second person. The key of a new partner is shown once, by the page after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from abacus.approving.executors import limits_proposal
from abacus.console.pages.forms.form_page import FormDeed
from abacus.console.pages.partners.partner import LIMITS, RIGHTS, partner_of, partner_page, registered
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Unavailable
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields
from abacus.core.points import MAX_POINTS
from abacus.documents.form.types import Choice, Field, Form, Option, Several, Table, Text, Whole
from abacus.intake.partners.decide.partner import LIVE_KEY, MOST_REQUESTS_PER_MINUTE, Partner, RightsChange, faults_of
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also
from abacus.pricing.store.cards import CardReader

_USUAL: Final[Table] = {"may": ["fixed_points", "computed_points"], "requests_per_minute": 60_000}
_ID: Final = Field(
    name="partner_id",
    sort=Text(),
    label="Id",
    help="Small letters, digits and hyphens. It never changes.",
    required=True,
    begins="Enter",
)
_SOURCES: Final = "Sources that it may name beside its own id"
_PANELS: Final = (
    ("Who it is", ("partner_id", "name")),
    ("What it may do", ("may", "requests_per_minute")),
    ("Where, and what it may name", ("countries", "card_scope", "sources", "others")),
)
_LIMITS_FORM: Final = Form(
    [
        Field(name=name, sort=Whole(0, MAX_POINTS), label=label, begins=label.lower(), says="at most {}")
        for name, label in LIMITS.items()
    ]
)


class Lists(NamedTuple):
    """What there is to choose from: countries, cards of partners, and sources that partners name."""

    countries: Sequence[str]
    cards: Sequence[str]
    sources: Sequence[str]


async def entering(call: Call) -> FormDeed[Partner]:
    def read(document: Table) -> Partner:
        faults: list[Fault] = []
        change = _read_rights(document, faults)
        made = Partner(
            **change,
            partner_id=str(document.get("partner_id", "")),
            signing_secret=None,
            created_at=call.now,
            created_by=call.actor.source,
            disabled_at=None,
        )
        _check(faults, made)
        return made

    async def free(made: Partner) -> None:
        if any(each.partner.partner_id == made.partner_id for each in await call.rooms[PartnerStore].all()):
            raise DocumentFaults([Fault("partner_id", "there is a partner of this id already")])

    async def does(made: Partner) -> Page:
        key, said = LIVE_KEY.new(), {name: getattr(made, name) for name in RightsChange.__annotations__}
        also = _told(call, made.partner_id, did="create", **said)
        await call.rooms[PartnerStore].create(made, Limits(), key, also=also)
        return await partner_page(call, made.partner_id, key=key)

    return FormDeed(
        title="Enter a partner",
        about="It gets a key, which is shown once, and has no limits until you set them.",
        path="/partners-enter",
        submit="Enter it, and show its key",
        command="abacus partners create PARTNER",
        fields=Form([_ID, *_rights_fields(await _lists(call))], _PANELS),
        begins=_USUAL,
        read=read,
        before=free,
        does=does,
        back="/partners",
    )


async def rights(call: Call) -> FormDeed[RightsChange]:
    partner = (await registered(call, partner_of(call))).partner
    now = _table_of(partner)

    def read(document: Table) -> RightsChange:
        faults: list[Fault] = []
        change = _read_rights(document, faults)
        _check(faults, partner._replace(**change))
        if not change["sources"] and partner.sources is None:
            del change["sources"]  # it may name any, from before there were sources: nobody has taken that away
        return change

    async def before(_: RightsChange) -> tuple[str, Table]:
        return "its rights now", now

    async def does(change: RightsChange) -> See:
        also = _told(call, partner.partner_id, did="set", **change)
        await call.rooms[PartnerStore].change(partner.partner_id, change, also=also)
        return See(f"/partners/{partner.partner_id}", Said("Its rights are changed, and hold from now on."))

    return FormDeed(
        title=f"Rights of {partner.name}",
        about="They hold from the next second on.",
        path=f"/partners/{partner.partner_id}/rights",
        submit="Change its rights",
        command=f"abacus partners set {partner.partner_id}",
        fields=Form(_rights_fields(await _lists(call)), _PANELS),
        begins=now,
        read=read,
        before=before,
        does=does,
        back=f"/partners/{partner.partner_id}",
    )


async def limits(call: Call) -> FormDeed[Limits]:
    partner_id = partner_of(call)
    now = (await registered(call, partner_id)).allowance.limits

    async def before(_: Limits) -> tuple[str, Table]:
        return "its limits now", _given(now)

    async def does(after: Limits) -> See:
        if after.allows_more_than(now):
            proposal = limits_proposal(partner_id, now, after)
            approval = await call.rooms[Approvals].ask(proposal, call.actor.agent)
            more = "Nothing has changed yet: a limit that allows more needs a second person."
            return See(f"/approvals/{approval.approval_id}", Said(more, "waiting"))
        also = call.told(Deed.EDIT_LIMITS, f"partner:{partner_id}", before=now._asdict(), after=after._asdict())
        await call.rooms[PartnerStore].limit(partner_id, after, also=call.once(also))
        return See(f"/partners/{partner_id}", Said("Its limits are changed, and hold from now on."))

    return FormDeed(
        title=f"Limits of {partner_id}",
        about="An empty field is no limit. A limit that allows more than now takes a second person.",
        path=f"/partners/{partner_id}/limits",
        submit="Change the limits",
        command=f"abacus partners limit {partner_id}",
        fields=_LIMITS_FORM,
        begins=_given(now),
        read=_read_limits,
        before=before,
        does=does,
        back=f"/partners/{partner_id}",
    )


async def _lists(call: Call) -> Lists:
    """Also what partners have by now, be there a card for it or not."""
    partners = [each.partner for each in await call.rooms[PartnerStore].all()]
    try:
        book = call.rooms[CardReader].book()
        cards = {*book.scopes()} - {*book.countries()}
    except Unavailable:
        cards = set()
    return Lists(
        sorted({*call.premises.countries(), *(country for each in partners for country in each.countries)}),
        sorted({*cards, *(each.card_scope for each in partners if each.card_scope is not None)}),
        sorted({source for each in partners for source in each.sources or ()}),
    )


def _rights_fields(lists: Lists) -> Sequence[Field]:
    fields = (
        Field(name="name", sort=Text(), label="Name", required=True, begins="the partner", says="is called {}"),
        Field(name="may", sort=_several(RIGHTS), label="May", begins="it may"),
        Field(
            name="countries",
            sort=_several({each: each for each in lists.countries}),
            label="Countries",
            help="Every country where none is ticked.",
            begins="in",
        ),
        Field(
            name="sources",
            sort=_several({each: each for each in lists.sources}),
            label=_SOURCES,
            begins="it may name the sources",
        ),
        Field(
            name="others",
            sort=Text(),
            label="Other sources" if lists.sources else _SOURCES,
            help="A source says where a transaction comes from, such as rides or mart. With commas between.",
            begins="it may name the sources",
        ),
        Field(
            name="card_scope",
            sort=Choice([Option(each, each) for each in lists.cards]),
            label="Rate card",
            usual="the country's",
            begins="by the rate card",
        ),
        Field(
            name="requests_per_minute",
            sort=Whole(1, MOST_REQUESTS_PER_MINUTE),
            label="Requests a minute",
            required=True,
            begins="at most",
            says="{} request(s) a minute",
        ),
    )
    return [each for each in fields if not isinstance(each.sort, Several) or each.sort.of.options]


def _several(options: Mapping[str, str]) -> Several:
    return Several(Choice([Option(value, words) for value, words in options.items()]))


def _read_rights(document: Table, faults: list[Fault]) -> RightsChange:
    """Whether they make sense is looked at by `faults_of`."""
    may, others = document.get("may", ()), str(document.get("others", "")).replace(",", " ").split()
    requests = Fields(document, "", faults).read("requests_per_minute", _whole, 1)
    change: Any = {
        **{name: name in may for name in RIGHTS},
        "name": str(document.get("name", "")),
        "countries": tuple(document.get("countries", ())),
        "sources": tuple(dict.fromkeys((*document.get("sources", ()), *others))),
        "card_scope": document.get("card_scope"),
        "requests_per_minute": requests,
    }
    return cast("RightsChange", change)


def _read_limits(document: Table) -> Limits:
    faults: list[Fault] = []
    fields = Fields(document, "", faults)
    found = Limits(**{name: fields.read_if_there(name, _whole, None) for name in Limits._fields})
    if faults:
        raise DocumentFaults(faults)
    return found


def _whole(value: object) -> int:
    if not isinstance(value, int) or value > MAX_POINTS:
        raise Bad(f"Write a whole number up to {MAX_POINTS:,}.")
    return value


def _check(faults: Iterable[Fault], partner: Partner) -> None:
    """Raises `DocumentFaults`. The sources that may be wrong are those that were typed."""
    found = [
        *faults,
        *(each._replace(path="others") if each.path == "sources" else each for each in faults_of(partner)),
    ]
    if found:
        raise DocumentFaults(found)


def _table_of(partner: Partner) -> Table:
    table: dict[str, Any] = {name: getattr(partner, name) for name in ("name", "card_scope", "requests_per_minute")}
    table |= {"may": [name for name in RIGHTS if getattr(partner, name)]}
    table |= {"countries": list(partner.countries), "sources": list(partner.sources or ())}
    return {name: value for name, value in table.items() if value not in (None, [])}


def _given(limits: Limits) -> Table:
    return {name: value for name, value in limits._asdict().items() if value is not None}


def _told(call: Call, partner_id: str, **details: Any) -> Also:
    return call.once(call.told(Deed.EDIT_PARTNERS, f"partner:{partner_id}", **details))
