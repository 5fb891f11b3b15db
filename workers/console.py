"""Serves the pages of the house's people, with the probes of its process, on ABACUS_CONSOLE_HOST and …_PORT."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.console.wiring import console
from workers import PIPELINE

NEEDS: Final = frozenset({Service.DATABASE})
USES: Final = frozenset({Service.KAFKA, Service.SQS})  # where they are set; what is not is shown as not looked at
wire = partial(console, pipeline=PIPELINE)
