"""One file per process: what each worker is made of. `abacus worker NAME…` runs any set of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from abacus.bootstrap import Wire
from abacus.settings import Settings
from workers import api, awarder, calculator, expirer, notifier, relay, retrier, tierkeeper, webhooks

# From the stream to the ledger and back to the stream.
PIPELINE: Final[Mapping[str, Wire]] = {
    "calculator": calculator.wire,
    "retrier": retrier.wire,
    "awarder": awarder.wire,
    "expirer": expirer.wire,
    "relay": relay.wire,
}
# What follows from the points stream.
FOLLOWERS: Final[Mapping[str, Wire]] = {"tierkeeper": tierkeeper.wire, "notifier": notifier.wire}
WORKERS: Final[Mapping[str, Wire]] = {**PIPELINE, **FOLLOWERS, "api": api.wire, "webhooks": webhooks.wire}


def check(names: Iterable[str], settings: Settings) -> None:
    """What these workers can say of their settings before they start. Raises `Refused` with one line."""
    if "notifier" in names:
        notifier.plan_of(settings)
