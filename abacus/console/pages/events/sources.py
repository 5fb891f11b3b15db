"""Event sources: where the events stand that counters count and campaigns react to."""

from collections.abc import Collection
from typing import Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import Register
from abacus.console.web.calls import Call
from abacus.documents.form.example import example
from abacus.documents.types import documents
from abacus.intake.partners.store import PartnerStore
from abacus.signals.events.broker_topics import BrokerTopics
from abacus.signals.events.decide.source_form import SOURCE_FORM, beside_others, topics_offered
from abacus.signals.events.kind import SOURCES, Offered, Reserved, SourceDesk


async def _around(call: Call) -> Reserved:
    """With the partners that there are, and the topics that the console knows of."""
    desk, broker = call.rooms[SourceDesk], call.rooms.find(BrokerTopics)
    reserved, partners = await desk.around(), await call.rooms[PartnerStore].all()
    there: Collection[str] = broker.names if broker is not None else ()
    topics = topics_offered(there, documents(await desk.records()), reserved.events_topic)
    return reserved._replace(offered=Offered([each.partner.partner_id for each in partners], topics))


SOURCE_REGISTER: Final = Register(
    drafts=DraftKind(
        kind=SOURCES,
        desk=lambda rooms: rooms[SourceDesk],
        about="Says where events stand in the messages of a stream; the next version is in force within a second.",
        begin=lambda _: SOURCES.write(example(SOURCE_FORM)),
        beside=beside_others,
        around=_around,
        page=lambda source: f"/events/{source.name}",
        everywhere=True,
    ),
    title="Event sources",
    about="The streams whose events are counted, and that campaigns react to.",
    columns={
        "topic": lambda source: source.topic or "by HTTP alone",
        "types": lambda source: ", ".join(sorted(source.types)),
        "posted by": lambda source: ", ".join(sorted(source.senders)),
    },
)
