"""One file per process: what each worker is made of. `abacus worker NAME…` runs any set of them."""

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from abacus.bootstrap import Wire
    from abacus.platform.settings import Settings

PIPELINE: Final = ("calculator", "retrier", "awarder", "expirer", "relay")  # from the stream to the ledger and back
FOLLOWERS: Final = ("tierkeeper", "notifier")  # what follows from the points stream
WORKERS: Final = (*PIPELINE, *FOLLOWERS, "api", "webhooks")


def wires(names: Iterable[str]) -> "dict[str, Wire]":
    """What to run, by name. A worker is loaded only now, and the others not at all: a process holds what it runs."""
    return {name: importlib.import_module(f"{__name__}.{name}").wire for name in dict.fromkeys(names)}


def check(names: Iterable[str], settings: "Settings") -> None:
    """What these workers can say of their settings before they start. Raises `Refused` with one line."""
    if "notifier" in names:
        from workers import notifier  # noqa: PLC0415  # as above

        notifier.plan_of(settings)
