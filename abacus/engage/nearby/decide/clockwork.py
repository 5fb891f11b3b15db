"""When the clock opens or closes offers: until then an answer stays what it is. Pure."""

from collections.abc import Iterable
from typing import Final

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked

NEVER: Final = 2**63
SECOND: Final = 1_000_000  # microseconds
_MINUTE: Final = 60 * SECOND
_QUARTER: Final = 15 * _MINUTE
_DAY: Final = 24 * 60  # minutes


def unchanged_until(offers: Iterable[Armed], asked: Asked) -> int:
    """In microseconds; before that no offer begins, ends, opens or closes."""
    return min((_next_change(each, asked) for each in offers), default=NEVER)


def _next_change(armed: Armed, asked: Asked) -> int:
    if asked.at < armed.starts:
        return armed.starts
    if asked.at >= armed.ends:
        return NEVER
    offer = armed.offer
    if not offer.weekdays and not offer.hours:
        return armed.ends
    _, minute = asked.local(offer.zone)
    borders = {0, *(each for span in offer.hours for each in span)}
    ahead = min((border - minute) % _DAY or _DAY for border in borders)
    # Clocks are put forward and back at quarters of an hour: what is beyond the next one is looked at then.
    quarter = (asked.at // _QUARTER + 1) * _QUARTER
    return min(armed.ends, (asked.at // _MINUTE + ahead) * _MINUTE, quarter)
