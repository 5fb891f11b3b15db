"""One file per process: what each worker is made of. `abacus worker NAME…` runs any set of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from abacus.bootstrap import Wire
from abacus.settings import Settings
from workers import api, awarder, calculator, notifier, relay, retrier, webhooks

# From the stream to the ledger and back to the stream.
PIPELINE: Final[Mapping[str, Wire]] = {
    "calculator": calculator.wire,
    "retrier": retrier.wire,
    "awarder": awarder.wire,
    "relay": relay.wire,
}
WORKERS: Final[Mapping[str, Wire]] = {
    **PIPELINE,
    "api": api.wire,
    "webhooks": webhooks.wire,
    "notifier": notifier.wire,
}


def check(names: Iterable[str], settings: Settings) -> None:
    """What these workers can say of their settings before they start. Raises `Refused` with one line."""
    if "notifier" in names:
        notifier.plan_of(settings)
