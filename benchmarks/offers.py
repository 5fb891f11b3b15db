"""Offers: the choice in memory, asking over HTTP, and taking an offer that everybody wants."""

from pathlib import Path
from typing import Final

from benchmarks import offer_asking, offer_choice, offer_taking
from benchmarks.report import Figure

_FEW: Final = 5_000
_FEW_MEMBERS: Final = 20_000
_SHORT_S: Final = 2.0


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    asking, taking = directory / "asking", directory / "taking"
    if short:
        return [
            *offer_choice.measure(_FEW),
            *await offer_asking.measure(asking, _FEW, _FEW_MEMBERS, _SHORT_S),
            *await offer_taking.measure(taking, _SHORT_S),
        ]
    return [*offer_choice.measure(), *await offer_asking.measure(asking), *await offer_taking.measure(taking)]
