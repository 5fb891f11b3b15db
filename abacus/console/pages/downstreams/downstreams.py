"""Downstreams: the webhooks that campaigns call, the services that their rules ask, and the pace of all of them."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import PageDeed, Register
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.documents.form.example import example
from abacus.documents.types import DraftOutcome
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.downstreams.decide.downstream_form import DOWNSTREAM_FORM, beside_others
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed

TRIAL: Final = "downstream-trial"
_TRIED: Final = {DownstreamKind.WEBHOOK: "Send a test message", DownstreamKind.EXTERNAL: "Ask it a test question"}


def _deeds(downstream: Downstream) -> Sequence[PageDeed]:
    """The deeds of a downstream in force. A downstream of Abacus' own has no secret, and nothing is sent to it."""
    if downstream.retired:
        return ()
    here = address_of(downstream.name)
    tried, retired = _TRIED.get(downstream.kind), PageDeed("Retire", f"{here}/retire")
    if tried is None:
        return (retired,)
    return (PageDeed(tried, f"{here}/try", at_once=True), PageDeed("Make another secret", f"{here}/secret"), retired)


def address_of(name: str) -> str:
    return f"/{DOWNSTREAMS.command}/{quote(name, safe='')}"


async def _published(call: Call, outcome: DraftOutcome[Downstream]) -> Page | See:
    """The first version has made a secret, which is shown now or never."""
    name, secret = outcome.document.name, outcome.told["secret"]
    if secret is not None:
        return await DOWNSTREAM_REGISTER.document(call, name, secret=secret)
    return See(address_of(name), f"{outcome.label} is published.")


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
    deeds=_deeds,
    trial=TRIAL,
)
