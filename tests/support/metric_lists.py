"""The lists of metrics: that of the platform, and one beside each capability."""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from tests.support.paths import ROOT


@cache
def metric_lists() -> tuple[ModuleType, ...]:
    paths = sorted((ROOT / "abacus").rglob("metrics.py"))
    return tuple(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)) for path in paths)


def declared_metrics() -> list[Any]:
    """Everything that the lists define."""
    return [each for module in metric_lists() for each in vars(module).values()]
