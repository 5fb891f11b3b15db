"""What routes answer of documents whose versions have states: the bodies, and their schemas and examples."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Generic

from pydantic import BaseModel, create_model

from abacus.api import answers
from abacus.api.answer_examples import APPROVAL
from abacus.api.answer_schemas import ApprovalAnswer, with_example
from abacus.documents.decide.states import State
from abacus.documents.kind import Around
from abacus.documents.stated import Running, Stated, StatedKind
from abacus.engage.campaigns.decide.granting import GrantedBy
from abacus.people.types.approval import Approval

_HISTORY: Final[Mapping[str, tuple[Any, Any]]] = {
    "drafted_at": (datetime, "2026-01-10T04:30:00Z"),
    "drafted_by": (str, "person:ann"),
    "changed_at": (datetime, "2026-01-10T05:30:00Z"),
    "changed_by": (str, "person:ann"),
    "approved_at": (datetime | None, "2026-01-10T05:30:00Z"),
    "approved_by": (str | None, "person:eve"),
    "reason": (str | None, None),
}


class DocumentAnswers(Generic[Running, Around]):
    """The answers on a kind; `example` is one of its documents."""

    def __init__(self, kind: StatedKind[Running, Around], example: Mapping[str, Any], *, is_granted: bool) -> None:
        self._kind = kind
        word, plural, title = kind.word, kind.plural, kind.word.title()
        fields = {"name": str, "version": int, "state": State, word: dict[str, Any]}
        shown = {"name": example["name"], "version": 2, "state": "running", word: dict(example)}
        shown |= {name: value for name, (_, value) in _HISTORY.items()}
        self.one = _schema(
            f"{title}Answer",
            f"A version of a {word}. `drafted_by`, `changed_by` and `approved_by` are sources, such as `person:ann`.",
            fields | _fields_of_history(),
            shown,
        )
        self.taken_out = self.one
        if is_granted:
            granted = GrantedBy(["welcome@1"], f"no version of {example['name']} is in force").document
            self.taken_out = _schema(
                f"TakenOut{title}Answer",
                f"A version of a {word} that was ended or withdrawn. `granted_by` has the campaigns in force that grant"
                f" the {word}, and `refused` why what they grant is refused now.",
                fields | _fields_of_history() | {"granted_by": list[str], "refused": str | None},
                {**shown, "state": "ended", **granted},
            )
        self.page = _schema(
            f"{plural.title()}Answer",
            f"A page of {plural}; `next` is the name after which the next one begins, if there is one.",
            {plural: list[self.one], "next": str | None},  # type: ignore[name-defined]  # a class made here
            {plural: [shown], "next": None},
        )
        self.history = _schema(
            f"{title}VersionsAnswer",
            f"All versions of a {word}, the first first.",
            {"versions": list[self.one]},  # type: ignore[name-defined]  # as above
            {"versions": [shown]},
        )
        self.submitted = _schema(
            f"Submitted{title}Answer",
            "A version that waits for a second person, and the approval that lets it run.",
            {word: self.one, "approval": ApprovalAnswer},
            {word: {**shown, "state": "submitted"}, "approval": APPROVAL},
        )

    def version(self, record: Stated[Running], now: datetime) -> dict[str, Any]:
        document = record.document
        return {
            "name": self._kind.name(document),
            "version": document.version,
            "state": record.state(now),
            self._kind.word: self._kind.to_document(document),
            **{name: getattr(record, name) for name in _HISTORY},
        }

    def versions(self, records: Sequence[Stated[Running]], now: datetime) -> list[dict[str, Any]]:
        return [self.version(record, now) for record in records]

    def submission(self, record: Stated[Running], approval: Approval, now: datetime) -> dict[str, Any]:
        return {self._kind.word: self.version(record, now), "approval": answers.approval(approval)}


def _fields_of_history() -> dict[str, Any]:
    return {name: field for name, (field, _) in _HISTORY.items()}


def _schema(name: str, doc: str, fields: Mapping[str, Any], example: Mapping[str, Any]) -> type[BaseModel]:
    required: dict[str, Any] = {field: (its_type, ...) for field, its_type in fields.items()}
    return create_model(name, __doc__=doc, __config__=with_example(dict(example)), **required)
