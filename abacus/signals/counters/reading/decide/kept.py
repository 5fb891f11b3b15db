"""Of which definitions closed parts are kept. Pure.

It is a share of the definitions, without definitions just published or counted by a backfill: what was 0 a
moment ago may be counted now. Nothing of these is kept, nor taken from what was kept before, for as long as parts are
kept. So no cache, in a process or shared, has anything left of the time before.
"""

from datetime import datetime, timedelta
from typing import Final

from abacus.platform.reading.decide.shares import Settings
from abacus.platform.reading.types import ALL
from abacus.signals.counters.decide.definition import Definition

PARTS_KEPT: Final = timedelta(hours=1)  # at most; so long a count lags behind an event that was later than the bound

_REPLAYED: Final = "replayed:"  # and the id of a definition
_QUIET: Final = PARTS_KEPT + timedelta(minutes=1)  # clocks differ, and announcements take a moment


def replay_of(definition: Definition) -> str:
    """The name of the setting that says when a backfill last counted for it."""
    return f"{_REPLAYED}{definition.id}"


def is_kept(definition: Definition, percent: int, settings: Settings, now: datetime) -> bool:
    """The share is by the last two digits of ids."""
    if definition.id % ALL >= percent:
        return False
    replayed = settings.get(replay_of(definition))
    changed_at = definition.published_at if replayed is None else max(definition.published_at, replayed.set_at)
    return now - changed_at > _QUIET
