"""The environment of a process whose commands run in threads: each changes it while others may walk through it."""

import os
from collections.abc import ItemsView


class SteadyEnvironment(os._Environ[str]):  # noqa: SLF001  # nothing else is the type of `os.environ`
    """Its items are those of one moment. Otherwise each name is looked up on the way, and one may be gone by then."""

    def items(self) -> ItemsView[str, str]:
        while True:
            try:
                return dict(super().items()).items()
            except KeyError:  # a command's end has just taken it away
                continue


def steady() -> None:
    """From now on the environment is walked through steadily."""
    os.environ.__class__ = SteadyEnvironment
