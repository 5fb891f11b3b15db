"""`make bench`: every measurement, as one table."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import uvloop

from benchmarks import api, calculation, notify, pipeline, posting
from benchmarks.report import Figure, machine, markdown

_PARTS = ["calculation", "posting", "demo", "memory", "api", "notify"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", choices=["calculation", "posting", "demo", "memory", "api", "notify"], action="append"
    )
    parser.add_argument("--accounts", type=int, default=1_000_000, help="accounts present while posting")
    parser.add_argument("--transactions", type=int, default=20_000, help="transactions through the embedded stack")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[Path], Sequence[Figure]]] = {
        "calculation": lambda _: list(calculation.measure()),
        "posting": lambda directory: uvloop.run(posting.measure(directory, chosen.accounts)),
        "demo": lambda _: pipeline.measure_demo(chosen.transactions),
        "memory": lambda directory: uvloop.run(pipeline.measure_memory(directory, chosen.transactions)),
        "api": lambda directory: uvloop.run(api.measure(directory)),
        "notify": lambda directory: uvloop.run(notify.measure(directory)),
    }
    figures: list[Figure] = []
    for name in chosen.only or parts:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="abacus-bench-") as directory:
            figures += parts[name](Path(directory))
    print(markdown(figures))
    print(f"\nOn: {machine()}.")
    return 0 if all(figure.reached is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
