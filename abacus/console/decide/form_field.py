"""A field of a page that is no document's: of a trial. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FormField:
    """A field; `options` are its values where there are only some. `type` is that of an input, or `textarea`. An
    `example` of what is typed can be opened below it.
    """

    name: str
    label: str
    value: str = ""
    options: Sequence[tuple[str, str]] | None = None
    hint: str | None = None
    type: str = "text"
    inputmode: str | None = None
    example: str | None = None
