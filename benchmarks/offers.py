"""Offers: the choice in memory. What serves it over HTTP is measured beside it."""

from collections.abc import Iterator

from benchmarks import offer_choice
from benchmarks.report import Figure


def measure() -> Iterator[Figure]:
    yield from offer_choice.measure()
