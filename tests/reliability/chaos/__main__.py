"""`make chaos`: one fault after another strikes real processes on real services, and scenarios are played on them; each
time everything has to add up.
"""

import argparse
import asyncio
import json
import logging
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from random import SystemRandom
from typing import Final

from rich.console import Console
from rich.table import Column, Table

from abacus.core.errors import AbacusError
from localstack.running import Services, running_services
from tests.reliability.chaos.faults.fault import Fault
from tests.reliability.chaos.faults.table import FAULTS, SHORT
from tests.reliability.chaos.run import Outcome, Plan, run
from tests.reliability.chaos.scenarios.scenario import Scenario, play
from tests.reliability.chaos.scenarios.table import SCENARIOS
from tests.support.births import Nursery, opened_nursery

_FAULTS: Final = 1
_REFUSED: Final = 2
_INTERRUPTED: Final = 130
_MESSAGES: Final = 50_000
_SHORT_MESSAGES: Final = 6_000
_errors: Final = Console(stderr=True, soft_wrap=True, highlight=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the workload and of the strikes; printed, and random without it")
    parser.add_argument("--only", action="append", metavar="NAME", help="faults and scenarios whose name holds this")
    parser.add_argument("--list", action="store_true", help="name them, and run none")
    parser.add_argument("--short", action="store_true", help="less of everything, in about two minutes")
    parser.add_argument("--messages", type=int, help=f"how many are sent in each run; {_MESSAGES:,} else")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    options = parser.parse_args()
    among: tuple[Fault | Scenario, ...] = (*(SHORT if options.short and not options.only else FAULTS), *SCENARIOS)
    trials = [trial for trial in among if not options.only or any(part in trial.name for part in options.only)]
    if not trials:
        _errors.print("no fault and no scenario has such a name; --list names them", markup=False)
        return _REFUSED
    if options.list:
        for trial in trials:
            print(f"{trial.name}: {trial.how}")
        return 0
    seed = SystemRandom().randrange(10_000) if options.seed is None else options.seed
    messages = options.messages or (_SHORT_MESSAGES if options.short else _MESSAGES)
    plan = Plan(
        seed,
        messages,
        sent_over_s=15.0 if options.short else 25.0,
        rest_within_s=300.0,
        late_after_s=10.0 if options.short else 60.0,
        overload_s=12.0 if options.short else 60.0,
    )
    _errors.print(f"seed {seed}", markup=False)
    started = time.monotonic()
    for name in ("aiokafka", "asyncpg"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # services are taken away on purpose
    try:
        outcomes = asyncio.run(_all(trials, plan))
    except AbacusError as error:
        _errors.print(f"chaos: {error}", markup=False)
        return _REFUSED
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _INTERRUPTED
    if options.json:
        print(json.dumps({"seed": seed, "runs": [vars(each) | {"held": each.held} for each in outcomes]}))
    else:
        _show(outcomes)
        tried = [each for each in outcomes if not each.skipped]
        held = sum(each.held for each in tried)
        print(f"\nseed {seed}: {held} of {len(tried)} held in {time.monotonic() - started:.0f} s")
    return 0 if all(each.held for each in outcomes) else _FAULTS


async def _all(trials: Sequence[Fault | Scenario], plan: Plan) -> list[Outcome]:
    outcomes: list[Outcome] = []
    running = asyncio.current_task()
    if running is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)  # and everything is put away
    async with running_services() as services, opened_nursery() as nursery:
        for trial in trials:
            try:
                outcome = await _tried(trial, plan, services, nursery)
            except Exception as error:  # noqa: BLE001  # whatever it is, the others are still to be tried
                trace = "".join(traceback.format_exception(error))
                outcome = Outcome(trial.name, faults=[f"the run broke off: {trace}"])
            said = (outcome.skipped and f"skipped: {outcome.skipped}") or "; ".join(outcome.faults) or "held"
            _errors.print(f"{trial.name}: {said}; struck: {_struck(outcome)} ({outcome.seconds:.0f} s)", markup=False)
            outcomes.append(outcome)
    return outcomes


async def _tried(trial: Fault | Scenario, plan: Plan, services: Services, nursery: Nursery) -> Outcome:
    if isinstance(trial, Scenario):
        return await play(trial, plan, services, nursery)
    return await run(trial, plan, services, nursery)


def _show(outcomes: Sequence[Outcome]) -> None:
    table = Table("fault", Column("struck", overflow="fold"), "messages", "posted", "told again", "", "seconds")
    for each in outcomes:
        table.add_row(
            each.fault,
            _struck(each),
            f"{each.messages:,}",
            f"{each.posted:,}",
            f"{each.told_again:,}",
            "skipped" if each.skipped else "held" if each.held else "[red]DID NOT HOLD[/]",
            f"{each.seconds:.0f}",
        )
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _struck(outcome: Outcome) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in sorted(outcome.struck.items())) or "nothing"


if __name__ == "__main__":
    sys.exit(main())
