"""A deed that is shown before it is done: the fields, then what would come of it, then the doing. Each step is the form
sent once more, and nothing is done before the last.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from abacus.console.decide.effects import Effect
from abacus.console.decide.form_field import FormField
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page, See
from abacus.people.types.approval import CannotDecide

SURE: Final = "sure"  # the field of the confirmation; without it nothing is done
DO: Final = "do"
CHANGE: Final = "change"


@dataclass(frozen=True, kw_only=True)
class DeedPage(Page):
    """The fields, or in a confirmation what was typed into them and what comes of it. `label` is what its button says;
    a deed that is final cannot be taken back.
    """

    address: str
    label: str
    about: str
    fields: Sequence[FormField]
    is_final: bool = False
    effects: Sequence[Effect] = ()
    notes: Sequence[str] = ()
    is_confirmation: bool = False


@dataclass(frozen=True)
class Prepared:
    """What would be done, checked: its effects and what else to know, and the doing itself."""

    effects: Sequence[Effect]
    does: Callable[[], Awaitable[See]]
    notes: Sequence[str] = ()


async def taken(
    typed: Form, prepare: Callable[[], Awaitable[Prepared]], show: Callable[[], Awaitable[DeedPage]]
) -> Page | See:
    """`prepare` raises `WrongForm` for what cannot be done; `show` gives the page of the fields."""
    step = typed.get(SURE)
    try:
        prepared = await prepare() if step != CHANGE else None
        if prepared is not None and step == DO:
            return await prepared.does()
    except CannotDecide as error:
        return replace(await show(), form=typed, fault=error.detail)
    except WrongForm as wrong:
        return replace(await show(), form=wrong.form, fault=wrong.fault)
    shown = replace(await show(), form=typed)
    if prepared is None:
        return shown
    return replace(shown, effects=prepared.effects, notes=prepared.notes, is_confirmation=True)
