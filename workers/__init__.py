"""One file per worker: `NEEDS`, the services that it needs, and `wire`, which puts it together.

`wire(wiring)` opens what it needs through `wiring`, which closes it, and returns what runs until it is told to stop.
"""

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import ModuleType

    from abacus.bootstrap import Service, Wire
    from abacus.platform.settings import Settings

# In the order of a transaction's way. The demo, the crash points and the benchmarks run the pipeline alone.
PIPELINE: Final = ("calculator", "retrier", "awarder", "expirer", "relay")  # from the stream to the ledger and back
FOLLOWERS: Final = ("tierkeeper", "notifier")  # the followers of the points stream
WORKERS: Final = (
    *PIPELINE,
    *FOLLOWERS,
    "substream",
    "counter",
    "counts",
    "campaigner",
    "journeyer",
    "exchanger",
    "positions",
    "offers",
    "places",
    "api",
    "webhooks",
    "console",
)


def wires(names: Iterable[str]) -> "dict[str, Wire]":
    """The workers to run, by name. Only their modules are loaded."""
    return {name: _module(name).wire for name in dict.fromkeys(names)}


def needs(names: Iterable[str]) -> "frozenset[Service]":
    """All services that these workers need."""
    return frozenset().union(*(_module(name).NEEDS for name in names))


def check(names: Iterable[str], settings: "Settings") -> None:
    """Checks the settings of these workers before they start. Raises `Refused` with one line."""
    if "notifier" in names:
        from abacus.engage.notify.wiring import plan_of  # noqa: PLC0415  # as above

        plan_of(settings)
    if "console" in names:
        from abacus.console.entry import wiring  # noqa: PLC0415  # as above

        wiring.plan_of(settings)


def _module(name: str) -> "ModuleType":
    return importlib.import_module(f"{__name__}.{name}")
