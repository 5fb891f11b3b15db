"""A process that puts rides on the topic of their source, at a rate or as fast as it goes; see `benchmarks.load`."""

import argparse
from collections.abc import Sequence

from abacus.platform.settings import read_settings
from benchmarks.load import Pace, run
from benchmarks.offers_in_force import rides_topic
from benchmarks.ride_offers import Rides

MODULE = "benchmarks.rides_load"
NAME = "load of rides"


def arguments(mark: str, offers: int, accounts: int, *, rate: float | None = None, most: int = 10**9) -> list[str]:
    """The command line for a process of these arguments."""
    given = ["--mark", mark, "--offers", str(offers), "--accounts", str(accounts), "--most", str(most)]
    return given + (["--rate", str(rate)] if rate is not None else [])


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rides_load", description=__doc__)
    parser.add_argument("--mark", required=True, help="part of each id; the same mark sends the same")
    parser.add_argument("--offers", type=int, required=True, help="campaigns that run")
    parser.add_argument("--accounts", type=int, required=True)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--most", type=int, default=10**9)
    chosen = parser.parse_args(given)
    settings = read_settings()
    rides = Rides(chosen.mark, chosen.offers, chosen.accounts)
    run(settings, rides_topic(settings), rides, Pace(chosen.rate, None, chosen.most))


if __name__ == "__main__":
    main()
