"""One seed, checked; and the report of a failure for the person who has to explain it."""

from typing import Final

from tests.reliability.simulation.invariants import check
from tests.reliability.simulation.simulated import Parts
from tests.reliability.simulation.simulation import Finished, play
from tests.reliability.simulation.storm import Trace
from tests.reliability.simulation.violation import Violated
from tests.reliability.simulation.virtual_time import Stuck

_SHOWN: Final = 80
_AGAIN: Final = "ABACUS_SIMULATION_SEED={} pytest tests/reliability/simulation -k one_seed"
_AGAIN_ON_POSTGRES: Final = (
    "ABACUS_SIMULATION_SEEDS_ON_POSTGRES=1000 pytest tests/reliability/simulation -k 'on_postgres and [{}]'"
)


def run_seed(seed: int, parts: Parts | None = None) -> Finished:
    """Play it and check it. A violation carries the end of the trace, and the command that runs the seed again."""
    trace = Trace()
    try:
        finished = play(seed, parts or Parts(), trace)
        check(finished)
    except (Violated, Stuck) as error:
        error.add_note(f"The last that happened:\n{trace.last(_SHOWN)}")
        error.add_note(
            f"Run it again: {_AGAIN if parts is None or parts.relay is None else _AGAIN_ON_POSTGRES}".format(seed)
        )
        raise
    return finished
