"""A preview of a draft: what it would say or give, for something that the person chooses."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol

from abacus.console.decide.form_field import FormField
from abacus.console.web.calls import Call
from abacus.core.fields import Fault
from abacus.documents.kind import Around
from abacus.documents.types import Document

PREVIEW: Final = "preview"


class Previewed(Protocol):
    """What a preview shows. Its faults stand at their fields."""

    @property
    def faults(self) -> Sequence[Fault]: ...


@dataclass(frozen=True, kw_only=True)
class PreviewKind(Generic[Document, Around]):
    """`is_for` says whether there is anything to show, and `fields` are what the person chooses by; the template shows
    both, and what was read.
    """

    title: str
    about: str
    template: str
    read: Callable[[Call, Document, Around], Awaitable[Previewed]]  # raises `Unavailable` and `WrongForm`
    is_for: Callable[[Call, Document], bool] = lambda _, __: True
    fields: Callable[[Call, Document], Sequence[FormField]] = lambda _, __: ()


@dataclass(frozen=True)
class PreviewCard:
    """Where a page asks for a preview, and shows it."""

    title: str
    about: str
    template: str
    fields: Sequence[FormField]


def card_of(call: Call, kind: PreviewKind[Document, Around] | None, draft: Document) -> PreviewCard | None:
    if kind is None or not kind.is_for(call, draft):
        return None
    return PreviewCard(kind.title, kind.about, kind.template, kind.fields(call, draft))
