"""How the approval of moving the members of a journey to another version is told: where each lands, drawn and tried."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from abacus.console.decide.journey_picture import picture_of
from abacus.console.decide.migration_words import arrivals, landings
from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.drafts.trials import Trial, Trying
from abacus.console.pages.journeys.migration_trials import Move, trials_of_move, try_move
from abacus.console.web.calls import Call
from abacus.console.web.page import See
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.people.types.deed import Deed

_WHY: Final = (
    "Members who are inside go on by another version than the one by which they entered, so another person looks at"
    " where each of them lands."
)
_THEN: Final = "Nobody is moved at once: once you approve it, people who may edit journeys can move these members."


def _title(approval: Approval, document: Any) -> str:
    return f"Members of {approval.subject}, from version {document['from']} to {document['to']}"


async def _told(call: Call, approval: Approval, document: Any) -> Told:
    """As the two versions say it; without their words where the other one takes nobody in any more."""
    told = Told(
        why=_WHY,
        facts=[("What happens", approval.summary)],
        about=[Named("journey", f"{approval.subject}@{document['to']}")],
        then=_THEN,
    )
    move = Move.of(approval, document)
    with suppress(Refused, DocumentFaults):
        migration = await call.rooms[JourneyDesk].migration(*move.versions, move.map)
        before, after = (JOURNEYS.to_document(each) for each in (migration.before, migration.after))
        return replace(
            told, sentences=landings(migration, before, after), picture=picture_of(after, arrivals(migration))
        )
    return replace(
        told,
        changes=[changed(name, name, there) for name, there in document["nodes"].items()],
        against=f"{approval.subject}@{document['from']}",
    )


def _trying(approval: Approval, document: Any) -> Trying:
    move = Move.of(approval, document)

    async def trials(call: Call, path: str) -> Sequence[Trial]:
        return await trials_of_move(call, move, path)

    async def ask(call: Call, path: str) -> See:
        return await try_move(call, move, path)

    return Trying(
        title="Whom it reaches",
        says="Nobody has looked yet at how many members would land where.",
        button="Dry run",
        trials=trials,
        ask=ask,
        page=move.address,
        page_says="The page of this move",
        deed=Deed.EDIT_JOURNEYS,
    )


JOURNEY_MIGRATION: Final = Telling(
    kind=ApprovalKind.JOURNEY_MIGRATION, noun="Members of a journey", title=_title, told=_told, trying=_trying
)
