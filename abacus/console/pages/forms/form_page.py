"""A form of the kit that is no document's: its fields, with every fault at its field; what it says and changes; and the
doing. Its fields are plain: no rows and no entries. A form without fields begins with what would be done.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, TypeVar

from abacus.console.web.calls import Call
from abacus.console.web.confirmation import CHANGE, DO, SURE
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import Served, form, page
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault, Fields
from abacus.documents.form.changes import Change, changes
from abacus.documents.form.edit import Edit
from abacus.documents.form.faults import Placed, placed
from abacus.documents.form.parts import Panel
from abacus.documents.form.sentences import Sentence, sentences
from abacus.documents.form.steps import applied
from abacus.documents.form.types import NO_CHOICES, Choices, Table
from abacus.documents.form.types import Form as Declared
from abacus.documents.form.view import view
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

Value = TypeVar("Value")

_NO_FAULTS: Final = Placed({}, ())


async def _of_nothing(_: object) -> None:
    """It takes the place of nothing."""


@dataclass(frozen=True, kw_only=True)
class FormDeed(Generic[Value]):
    """A form in one request, and what is done by it. `read` raises `DocumentFaults`; `before` says what the form takes
    the place of, its label and its values, and raises `Refused`, as `does` does. `notes` say what else comes of it;
    `back` is where one goes who leaves things as they are.
    """

    title: str
    about: str
    path: str
    submit: str
    command: str
    fields: Declared
    read: Callable[[Table], Value]
    does: Callable[[Value], Awaitable[Page | See]]
    before: Callable[[Value], Awaitable[tuple[str, Table] | None]] = _of_nothing
    choices: Choices = NO_CHOICES
    begins: Table = field(default_factory=dict)
    notes: Sequence[str] = ()
    back: str | None = None
    is_final: bool = False


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
    notes: Sequence[str] = ()
    back: str | None = None
    is_final: bool = False


def one_field(name: str, read: Callable[[object], Value], stand_in: Value) -> Callable[[Table], Value]:
    """Reads a form that has this field alone. `read` raises `Bad`."""

    def reads(document: Table) -> Value:
        faults: list[Fault] = []
        value = Fields(document, "", faults).read(name, read, stand_in)
        if faults:
            raise DocumentFaults(faults)
        return value

    return reads


def form_pages(path: str, deed: Deed, of: Callable[[Call], Awaitable[FormDeed[Any]]]) -> tuple[Served, Served]:
    """The page of a form, and the form that is sent to it, for people who may do the deed everywhere."""

    async def shown(call: Call) -> Page | See:
        made = await of(call)
        return begun(made, made.begins) if made.fields.fields else await sent(made, EMPTY)

    async def taken(call: Call) -> Page | See:
        return await sent(await of(call), call.form)

    return page(path, shown, deed, everywhere=True), form(path, taken, deed, everywhere=True)


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
        back=deed.back,
        is_final=deed.is_final,
    )


async def sent(deed: FormDeed[Value], typed: Form) -> Page | See:
    """What was typed is read, shown once more, and done where that was confirmed."""
    document = applied({}, Edit(deed.fields, {}, deed.choices).steps(typed.typed))
    shown = begun(deed, document)
    if typed.get(SURE) == CHANGE:
        return shown
    try:
        value = deed.read(document)
        before = await deed.before(value)
        if typed.get(SURE) == DO:
            return await deed.does(value)
    except DocumentFaults as error:
        faults = placed(error.faults, view(deed.fields, document, deed.choices), document)
        return replace(shown, faults=faults, form=Form().but(document=f"{len(error.faults)} to mend."))
    except (CannotDecide, Refused) as error:
        return replace(shown, fault=f"{error}.")
    return replace(
        shown,
        is_confirmation=True,
        notes=deed.notes,
        sentences=sentences(deed.fields, document, deed.choices),
        changes=[] if before is None else changes(deed.fields, before[1], document, deed.choices),
        against=None if before is None else before[0],
    )
