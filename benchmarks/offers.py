"""Offers: the choice in memory, and asking over HTTP."""

from pathlib import Path

from benchmarks import offer_asking, offer_choice
from benchmarks.report import Figure


async def measure(directory: Path) -> list[Figure]:
    return [*offer_choice.measure(), *await offer_asking.measure(directory)]
