"""The pages of people who run the house."""

from typing import Final

from abacus.console.pages.operations import (
    dead_letters,
    errands,
    quarantine,
    quarantine_selection,
    settings,
    state,
    where,
)

SERVED: Final = (
    *state.SERVED,
    *quarantine.SERVED,
    *quarantine_selection.SERVED,
    *dead_letters.SERVED,
    *where.SERVED,
    *errands.SERVED,
    *settings.SERVED,
)
