"""Sends members messages about their points and tier: from the points and tiers streams to the channels."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.journeys.wiring import stopped_news
from abacus.engage.notify.wiring import notifier

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = partial(notifier, stopped_of=stopped_news)
