"""One file per process: what each worker is made of. `abacus worker NAME…` runs any set of them."""

from collections.abc import Mapping
from typing import Final

from abacus.bootstrap import Wire
from workers import awarder, calculator, relay, retrier

WORKERS: Final[Mapping[str, Wire]] = {
    "calculator": calculator.wire,
    "retrier": retrier.wire,
    "awarder": awarder.wire,
    "relay": relay.wire,
}
