"""One file per process: what each worker is made of. `abacus worker NAME…` runs any set of them."""

from collections.abc import Mapping
from typing import Final

from abacus.bootstrap import Wire
from workers import api, awarder, calculator, expirer, relay, retrier, tierkeeper, webhooks

# From the stream to the ledger and back to the stream.
PIPELINE: Final[Mapping[str, Wire]] = {
    "calculator": calculator.wire,
    "retrier": retrier.wire,
    "awarder": awarder.wire,
    "expirer": expirer.wire,
    "relay": relay.wire,
}
WORKERS: Final[Mapping[str, Wire]] = {
    **PIPELINE,
    "api": api.wire,
    "webhooks": webhooks.wire,
    "tierkeeper": tierkeeper.wire,
}
