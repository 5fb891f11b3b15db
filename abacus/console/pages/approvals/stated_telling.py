"""How the approval of a version with states is told: its sentences, and what changes against the version before."""

from collections.abc import Callable
from typing import Any, Generic

from abacus.console.decide.journey_picture import Picture
from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changes_of, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.web.calls import Call
from abacus.console.web.things import THINGS
from abacus.documents.form.sentences import sentences
from abacus.documents.form.types import Form, Table
from abacus.documents.kind import Around
from abacus.documents.stated import Running, StatedKind
from abacus.documents.stated_desk import StatedDesk
from abacus.people.types.approval import Approval


class StatedTelling(Generic[Running, Around]):
    """`why` says why another person looks at a version before it holds. `picture` draws it, beside the version before
    where there is one.
    """

    def __init__(
        self,
        kind: StatedKind[Running, Around],
        form: Form,
        desk: type[StatedDesk[Running, Around]],
        *,
        why: str,
        drafts: DraftKind[Running, Around] | None = None,
        picture: Callable[[Table | None, Table], Picture] | None = None,
    ) -> None:
        self._kind = kind
        self._form = form
        self._desk = desk
        self._why = why
        self._drafts = drafts
        self._picture = picture

    def telling(self) -> Telling:
        return Telling(
            kind=self._kind.approval,
            noun=self._kind.word.capitalize(),
            title=self._title,
            told=self._told,
            within=self._within,
            drafts=self._drafts,
        )

    def _title(self, approval: Approval, document: Any) -> str:
        about = document[self._kind.word].get("about")
        return f"{self._kind.word.capitalize()} {f'“{about}”' if about else approval.subject}, {approval.country}"

    def _within(self, approval: Approval, document: Any) -> str:
        about = document[self._kind.word].get("about")
        return f"{self._kind.word} {about or approval.subject}, version {document['version']}"

    async def _told(self, call: Call, approval: Approval, document: Any) -> Told:
        content, number = document[self._kind.word], document["version"]
        history = await call.rooms[self._desk].history(approval.subject)
        before = [each.document for each in history if each.document.version < number and each.approved_at is not None]
        old = self._kind.to_document(before[-1]) if before else None
        return Told(
            why=self._why,
            sentences=sentences(self._form, content),
            changes=changes_of(self._form, old, content),
            against=before[-1].label if before else None,
            about=[Named(self._kind.subject, f"{approval.subject}@{number}")] if self._kind.subject in THINGS else [],
            everything=everything_of(content),
            picture=None if self._picture is None else self._picture(old, content),
        )
