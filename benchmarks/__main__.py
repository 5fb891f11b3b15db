"""`make bench`: every measurement, as one table."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import uvloop

from benchmarks import (
    api,
    calculation,
    expiry,
    footprint,
    importing,
    notify,
    partitions,
    pipeline,
    posting,
    reconcile,
    reports,
    spending,
    throughput,
    tiers,
    verify,
)
from benchmarks.report import Figure, machine, markdown

_PARTS: Final[Mapping[str, Callable[[Path, argparse.Namespace], Sequence[Figure]]]] = {
    "calculation": lambda _, __: list(calculation.measure()),
    "posting": lambda directory, chosen: uvloop.run(posting.measure(directory, chosen.accounts)),
    "footprint": lambda directory, _: uvloop.run(footprint.measure(directory)),
    "demo": lambda _, chosen: pipeline.measure_demo(chosen.transactions),
    "memory": lambda directory, chosen: uvloop.run(pipeline.measure_memory(directory, chosen.transactions)),
    "api": lambda directory, _: uvloop.run(api.measure(directory)),
    "spending": lambda directory, _: uvloop.run(spending.measure(directory)),
    "hour": lambda directory, _: uvloop.run(api.measure_hour(directory)),
    "expiry": lambda directory, chosen: uvloop.run(expiry.measure(directory, chosen.accounts)),
    "import": lambda directory, _: uvloop.run(importing.measure(directory)),
    "tiers": lambda directory, chosen: uvloop.run(tiers.measure(directory, chosen.accounts)),
    "notify": lambda directory, _: uvloop.run(notify.measure(directory)),
    "verify": lambda directory, chosen: uvloop.run(verify.measure(directory, chosen.accounts // 10)),
    "reconcile": lambda directory, _: uvloop.run(reconcile.measure(directory)),
    "throughput": lambda _, chosen: uvloop.run(
        throughput.measure(
            chosen.accounts, chosen.seconds, {"calculator": chosen.calculators, "awarder": chosen.awarders}
        )
    ),
    "reports": lambda directory, _: uvloop.run(reports.measure(directory)),
    "partitions": lambda directory, _: uvloop.run(partitions.measure(directory)),
}
_ONLY_ASKED_FOR: Final = {"hour", "partitions", "reports"}  # each takes several minutes by itself


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=list(_PARTS), action="append")
    parser.add_argument("--accounts", type=int, default=1_000_000, help="accounts present")
    parser.add_argument("--transactions", type=int, default=20_000, help="transactions through the embedded stack")
    parser.add_argument("--seconds", type=float, default=180, help="how long the throughput is sustained")
    parser.add_argument("--calculators", type=int, default=1, help="processes for the throughput")
    parser.add_argument("--awarders", type=int, default=1, help="processes for the throughput")
    chosen = parser.parse_args()
    figures: list[Figure] = []
    for name in chosen.only or [name for name in _PARTS if name not in _ONLY_ASKED_FOR]:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="abacus-bench-") as directory:
            figures += _PARTS[name](Path(directory), chosen)
    print(markdown(figures))
    print(f"\nOn: {machine()}.")
    return 0 if all(figure.reached is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
