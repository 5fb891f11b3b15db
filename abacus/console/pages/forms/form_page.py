"""A form of the kit that is no document's: its fields, with every fault at its field; what it says and changes; and the
doing. Its fields are plain: no rows and no entries.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Generic, TypeVar

from abacus.console.web.confirmation import CHANGE, DO, SURE
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, See
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.form.changes import Change, changes
from abacus.documents.form.edit import Edit
from abacus.documents.form.faults import Placed, placed
from abacus.documents.form.parts import Panel
from abacus.documents.form.sentences import Sentence, sentences
from abacus.documents.form.steps import applied
from abacus.documents.form.types import NO_CHOICES, Choices, Table
from abacus.documents.form.types import Form as Fields
from abacus.documents.form.view import view
from abacus.people.types.approval import CannotDecide

Value = TypeVar("Value")

_NO_FAULTS: Final = Placed({}, ())


@dataclass(frozen=True, kw_only=True)
class FormDeed(Generic[Value]):
    """A form in one request, and what is done by it. `read` raises `DocumentFaults`; `before` says what the form takes
    the place of, its label and its values, and raises `Refused`, as `does` does.
    """

    title: str
    about: str
    path: str
    submit: str
    command: str
    fields: Fields
    read: Callable[[Table], Value]
    before: Callable[[Value], Awaitable[tuple[str, Table] | None]]
    does: Callable[[Value], Awaitable[Page | See]]
    choices: Choices = NO_CHOICES


@dataclass(frozen=True, kw_only=True)
class FormPage(Page):
    """The fields; in a confirmation what they say, and what changes `against` what was before. `carried` is sent again
    then.
    """

    template: ClassVar[str] = "form.html"
    about: str
    path: str
    submit: str
    panels: Sequence[Panel]
    carried: Mapping[str, str]
    faults: Placed = _NO_FAULTS
    is_confirmation: bool = False
    sentences: Sequence[Sentence] = ()
    changes: Sequence[Change] = ()
    against: str | None = None


def begun(deed: FormDeed[Value], document: Table) -> FormPage:
    """The form before anybody has typed."""
    shown = view(deed.fields, document, deed.choices)
    return FormPage(
        title=deed.title,
        command=deed.command,
        about=deed.about,
        path=deed.path,
        submit=deed.submit,
        panels=shown.parts,
        carried={each.name: each.value for each in shown.controls()},
    )


async def sent(deed: FormDeed[Value], typed: Form) -> Page | See:
    """What was typed is read, shown once more, and done where that was confirmed."""
    document = applied({}, Edit(deed.fields, {}, deed.choices).steps(typed.typed))
    page = begun(deed, document)
    if typed.get(SURE) == CHANGE:
        return page
    try:
        value = deed.read(document)
        before = await deed.before(value)
        if typed.get(SURE) == DO:
            return await deed.does(value)
    except DocumentFaults as error:
        faults = placed(error.faults, view(deed.fields, document, deed.choices), document)
        return replace(page, faults=faults, form=Form().but(document=f"{len(error.faults)} to mend."))
    except (CannotDecide, Refused) as error:
        return replace(page, fault=f"{error}.")
    return replace(
        page,
        is_confirmation=True,
        sentences=sentences(deed.fields, document, deed.choices),
        changes=[] if before is None else changes(deed.fields, before[1], document, deed.choices),
        against=None if before is None else before[0],
    )
