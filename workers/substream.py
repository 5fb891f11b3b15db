"""Copies the events that somebody asks for out of large topics, so that nobody else has to read those."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.campaigns import wiring as campaigns
from abacus.engage.journeys import wiring as journeys
from abacus.signals.counters import wiring as counters
from abacus.signals.events.wiring import substream

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = partial(substream, askers=[counters.asked_by, campaigns.asked_by, journeys.asked_by])
