"""What a point is expected to cost: every version, and a form that asks a second person for another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import ClassVar, Final

from abacus.approving.assumptions import Assumed, assumption_proposal, displaced, read_assumed
from abacus.console.pages.forms.form_page import FormDeed, FormPage, begun, sent
from abacus.console.web.calls import Call
from abacus.console.web.page import ASKED, Page, See
from abacus.console.web.parts import Part
from abacus.documents.form.types import Table
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook
from abacus.oversight.reports.decide.assumption_form import ASSUMPTION_FORM, assumption_choices, to_document
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardStore

DRAFT: Final = "/assumptions-draft"


@dataclass(frozen=True, kw_only=True)
class AssumptionsPage(Page):
    """Every version, the newest first."""

    template: ClassVar[str] = "assumptions.html"
    versions: Part[Sequence[Assumption]]
    may_set: bool


async def assumptions(call: Call) -> AssumptionsPage:
    async def versions() -> Sequence[Assumption]:
        return list(reversed(await AssumptionStore(call.premises.pool).all()))

    return AssumptionsPage(
        title="Assumptions",
        command="abacus report assumptions show",
        versions=await call.part(versions()),
        may_set=call.may(Deed.SET_ASSUMPTIONS, None),
    )


async def draft(call: Call) -> FormPage:
    """From today on, with the last values of the program and country that the address names."""
    program, _, country = (call.asked("of") or "").partition("/")
    found = AssumptionBook(await AssumptionStore(call.premises.pool).all()).in_force((program, country), date.max)
    known = to_document(program, country, found.estimate) if found is not None else {}
    return begun(await _deed(call), {**known, "effective_from": call.now.date().isoformat()})


async def ask(call: Call) -> Page | See:
    """Another person approves it."""
    return await sent(await _deed(call), call.form)


async def _deed(call: Call) -> FormDeed[Assumed]:
    cards = [each.card for each in await CardStore(call.premises.pool).all()]
    return FormDeed(
        title="Another assumption",
        about="What a point is expected to cost, and how many will be used. Another person approves it.",
        path=DRAFT,
        submit="Ask for it",
        command="abacus report assumptions set",
        fields=ASSUMPTION_FORM,
        choices=assumption_choices(cards),
        read=read_assumed,
        before=partial(_before, call),
        does=partial(_asked, call),
    )


async def _before(call: Call, wanted: Assumed) -> tuple[str, Table] | None:
    """The version in force on that day. Raises `Refused` for what the store would refuse."""
    store = AssumptionStore(call.premises.pool)
    await store.check(wanted.program, wanted.country, wanted.effective_from, wanted.estimate)
    return displaced(wanted, AssumptionBook(await store.all()))


async def _asked(call: Call, wanted: Assumed) -> See:
    approval = await call.rooms[Approvals].ask(assumption_proposal(wanted), call.actor.agent)
    return See(f"/approvals/{approval.approval_id}", ASKED)
