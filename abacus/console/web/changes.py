"""A page that changes by itself: a browser listens, is told that something has changed, and loads that part anew."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from abacus.console.web.calls import Call
from abacus.core.errors import Unavailable
from abacus.people.types.deed import Deed

_LOOK_EVERY_S: Final = 2.0
_LOOKS: Final = 300  # then the browser comes again


async def changes(call: Call, look: Callable[[], Awaitable[object]]) -> AsyncIterator[str]:
    """An event whenever what is seen is another, as long as the person is in and may look. What cannot be read now is
    looked at again. Nothing more changes once `look` sees None.
    """
    before: object = ...
    for _ in range(_LOOKS):
        with suppress(Unavailable):
            if not await call.still_may(Deed.SEE):
                return
            now = await look()
            if now != before:
                yield "changed"
            if now is None:
                return
            before = now
        await asyncio.sleep(_LOOK_EVERY_S)
