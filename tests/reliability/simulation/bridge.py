"""A real event loop beside the simulation's, whose loop looks at no socket."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from types import TracebackType
from typing import Any, Final, Self, TypeVar

Result = TypeVar("Result")

_WITHIN_S: Final = 60.0


class Bridge:
    """A loop in a thread of its own. A caller stands still until the answer is there: in the simulation no time passes
    meanwhile, and nobody else runs. So no work in there may wait for anybody in the simulation.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="bridge", daemon=True)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WITHIN_S)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
