"""A preview of the messages of a draft, for one of the last events: each language, with the values of that event."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from abacus.console.web.calls import Call
from abacus.core.fields import Fault
from abacus.documents.kind import Around
from abacus.documents.types import Document

PREVIEW: Final = "preview"
EVENT: Final = "for_event"  # the field that chooses the event


@dataclass(frozen=True)
class Message:
    """What a member reads in one language, or why nothing. `path` is the place of the template."""

    path: str
    where: str
    language: str
    title: str
    text: str
    fault: str | None


@dataclass(frozen=True)
class Preview:
    """The events to choose from, by their keys; the values of the chosen one, and the messages."""

    events: Sequence[tuple[str, str]]
    chosen: str | None
    values: Sequence[tuple[str, str]]
    messages: Sequence[Message]

    @property
    def faults(self) -> list[Fault]:
        return [Fault(each.path, f"for this event: {each.fault}") for each in self.messages if each.fault is not None]


@dataclass(frozen=True, kw_only=True)
class PreviewKind(Generic[Document, Around]):
    """`is_for` says whether there is anything to show; `read` takes the key of an event, or else the newest."""

    is_for: Callable[[Call, Document], bool]
    read: Callable[[Call, Document, Around, str], Awaitable[Preview]]  # raises `Unavailable`
