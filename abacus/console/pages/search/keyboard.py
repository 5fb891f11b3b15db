"""The keys of the keyboard, as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.navigation import Shortcut, shortcuts_of
from abacus.console.web.page import Page


@dataclass(frozen=True, kw_only=True)
class KeysPage(Page):
    """The keys of the pages that are open to the person."""

    template: ClassVar[str] = "keys.html"
    shortcuts: Sequence[Shortcut]


async def keys(call: Call) -> KeysPage:
    return KeysPage(title="Keys of the keyboard", shortcuts=shortcuts_of(call))
