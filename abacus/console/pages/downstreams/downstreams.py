"""Downstreams: the webhooks that campaigns call, the services that their rules ask, and the pace of all of them."""

from typing import Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import Register
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.documents.form.example import example
from abacus.documents.types import DraftOutcome
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.downstream_form import DOWNSTREAM_FORM, beside_others
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed


async def _published(call: Call, outcome: DraftOutcome[Downstream]) -> Page | See:
    """The first version has made a secret, which is shown now or never."""
    name, secret = outcome.document.name, outcome.told["secret"]
    if secret is not None:
        return await DOWNSTREAM_REGISTER.document(call, name, secret=secret)
    return See(DOWNSTREAM_REGISTER.address(name), f"{outcome.label} is published.")


DOWNSTREAM_REGISTER: Final[Register[Downstream, Allowed]] = Register(
    drafts=DraftKind(
        kind=DOWNSTREAMS,
        desk=lambda rooms: rooms[DownstreamDesk],
        about="What campaigns reach outside of Abacus, or a way out of Abacus' own that is to be slowed down.",
        begin=lambda _: DOWNSTREAMS.write(example(DOWNSTREAM_FORM)),
        beside=beside_others,
        published=_published,
        everywhere=True,
    ),
    title="Downstreams",
    about="The webhooks that campaigns call, the services that their rules ask, and how much each of them gets.",
    columns={
        "kind": lambda downstream: downstream.kind.value,
        "address": lambda downstream: downstream.url or "",
        "pace": lambda downstream: downstream.pace_text or "",
    },
)
