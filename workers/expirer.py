"""Takes points that lapsed with a month's end, and releases holds whose time is over."""

from typing import Final

from abacus.bootstrap import Service
from abacus.programs.expiry.wiring import expirer

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
wire = expirer
