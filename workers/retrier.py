"""Takes transactions that had to wait for a dependency through the same calculation again."""

from typing import Final

from abacus.bootstrap import Service
from abacus.intake.earning.wiring import retrier

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
wire = retrier
