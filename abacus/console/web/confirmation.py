"""A deed that is shown before it is done: the fields, then what would come of it, then the doing. Each step is the form
sent once more, and nothing is done before the last.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from abacus.console.decide.effects import Effect
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page, See
from abacus.people.types.approval import CannotDecide

SURE: Final = "sure"  # the field of the confirmation; without it nothing is done
DO: Final = "do"
CHANGE: Final = "change"


@dataclass(frozen=True)
class Prepared:
    """What would be done, checked: its effects and what else to know, and the doing itself."""

    effects: Sequence[Effect]
    does: Callable[[], Awaitable[See]]
    notes: Sequence[str] = ()


class Show(Protocol):
    """The page of the fields, or of what was prepared."""

    async def __call__(self, typed: Form, prepared: Prepared | None = None, *, fault: str | None = None) -> Page: ...


async def taken(typed: Form, prepare: Callable[[], Awaitable[Prepared]], show: Show) -> Page | See:
    """`prepare` raises `WrongForm` for what cannot be done."""
    step = typed.get(SURE)
    if step == CHANGE:
        return await show(typed)
    try:
        prepared = await prepare()
        if step == DO:
            return await prepared.does()
    except CannotDecide as error:
        return await show(typed, fault=error.detail)
    except WrongForm as wrong:
        return await show(wrong.form, fault=wrong.fault)
    return await show(typed, prepared)
