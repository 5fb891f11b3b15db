"""The imports of the process that workers are forked from: all parts of the workers, and the points at the drivers."""

import contextlib
import importlib
from typing import Final

from tests.reliability.chaos.crashes.boundary import watch

_SLOW: Final = ("aioboto3", "aiobotocore.config", "uvloop")  # imported when they are needed; uvloop not everywhere

importlib.import_module("tests.reliability.chaos.crashes.worker")
importlib.import_module("workers").wires(importlib.import_module("workers").WORKERS)
for _name in _SLOW:
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)
watch()
