"""A campaign that is being written: checked by what is published, and submitted for a second person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.decide.sentences import Sentence, sentences_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import form, page
from abacus.core.document_text import read_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.campaigns.decide.document import to_toml
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

_CHECK: Final = "check"
_SUBMIT: Final = "submit"
_BEGIN: Final = """name = "third_order"
about = "Bring people back for a third order"
country = "SG"
timezone = "Asia/Singapore"
starts_at = 2026-12-01T00:00:00+08:00
ends_at = 2027-01-01T00:00:00+08:00
on = ["transactions/transaction.completed"]

[when]
operator = "eq"
lhs = "var.vertical"
rhs = "food"

[[steps]]
at = 3
[[steps.do]]
award = { points = 500 }

[limits]
runs = { overall = 20000, member = 1 }
"""


@dataclass(frozen=True, kw_only=True)
class DraftPage(Page):
    """The text, every fault of it by its path, or what it says where there is none."""

    template: ClassVar[str] = "campaign_draft.html"
    text: str
    faults: Sequence[Fault] = ()
    sentences: Sequence[Sentence] = ()
    form: Form = EMPTY
    fault: str | None = None


async def draft(call: Call) -> DraftPage:
    """One that is there already, to be changed; or an example."""
    name = call.asked("of")
    if name is None:
        return _page(_BEGIN)
    history = await call.backends.campaigns.history(name)
    if not history or not call.may(Deed.SEE, history[-1].campaign.country):
        raise PageFault("not-found", "No such campaign is open to you.")
    return _page(to_toml(history[-1].campaign))


async def check_or_submit(call: Call) -> Page | See:
    """Whoever submits it sees the approval that a second person decides on."""
    text, act = call.form.exactly("text"), call.form.get("act")
    desk = call.backends.campaigns
    try:
        campaign = await desk.read(read_toml(text))
        call.check(Deed.EDIT_CAMPAIGNS, campaign.country)
        if act != _SUBMIT:
            return _page(text, sentences=sentences_of(campaign))
        _, approval = await desk.publish(campaign, call.actor)
    except DocumentFaults as error:
        faults = list(error.faults)
        typed = call.form.shown().but(text=f"{len(faults)} to mend: they are listed below.")
        return _page(text, faults=faults, form=typed)
    except CannotDecide as fault:
        return _page(text, fault=fault.detail)
    except Refused as fault:
        return _page(text, fault=str(fault))
    return See(f"/approvals/{approval.approval_id}")


def _page(
    text: str,
    *,
    faults: Sequence[Fault] = (),
    sentences: Sequence[Sentence] = (),
    form: Form = EMPTY,
    fault: str | None = None,
) -> DraftPage:
    return DraftPage(
        title="Draft a campaign",
        command="abacus campaigns publish FILE",
        text=text,
        faults=faults,
        sentences=sentences,
        form=form,
        fault=fault,
    )


SERVED: Final = (
    page("/campaigns-draft", draft, Deed.EDIT_CAMPAIGNS),
    form("/campaigns-draft", check_or_submit, Deed.EDIT_CAMPAIGNS),
)
