"""The field of another secret: for how long the secret so far signs beside it."""

from typing import Final

from abacus.console.pages.forms.form_page import one_field
from abacus.core.fields import Bad, string
from abacus.documents.form.types import Choice, Field, Option, Table

HOURS: Final = (("0", "none"), ("1", "an hour"), ("24", "a day"), ("168", "a week"), ("720", "30 days"))
_NAME: Final = "signs_too"
USUAL: Final[Table] = {_NAME: "24"}


def overlap_field(whom: str) -> Field:
    """`whom`: who needs the time to change."""
    return Field(
        name=_NAME,
        sort=Choice([Option(hours, words) for hours, words in HOURS]),
        label="The secret so far signs too for",
        help=f"Until then each message has two signatures, so that {whom} has time to change.",
        required=True,
        begins="A new secret signs. The secret so far signs too for",
    )


def hours_of(chosen: str) -> int:
    """Raises `Bad`."""
    if chosen not in dict(HOURS):
        raise Bad("choose one")
    return int(chosen)


read_overlap: Final = one_field(_NAME, lambda value: hours_of(string(value)), 0)  # in hours
