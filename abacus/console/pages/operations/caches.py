"""The caches of answers: what running processes keep, and how callers were answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.oversight.status.caches import read_caches
from abacus.oversight.status.decide.caches import CacheInUse


@dataclass(frozen=True, kw_only=True)
class CachesPage(Page):
    """What processes keep. `off`: nobody keeps anything, because somebody has switched all caches off."""

    template: ClassVar[str] = "caches.html"
    caches: Part[Sequence[CacheInUse]]
    off: bool = False


async def caches(call: Call) -> CachesPage:
    premises = call.premises
    found = await call.part(read_caches(premises.pool, premises.clock))
    value = found.value
    return CachesPage(
        title="Caches",
        command="abacus caches list",
        caches=Part(None if value is None else value.caches, found.down),
        off=value is not None and value.are_off,
    )
