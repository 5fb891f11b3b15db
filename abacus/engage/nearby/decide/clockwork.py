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
    at, until = asked.at, NEVER
    for armed in offers:
        next_ = armed.starts if at < armed.starts else armed.ends
        if at < next_ < until:
            until = next_
        if armed.keeps_hours and armed.starts <= at < armed.ends:
            until = min(until, _next_hour(armed, asked))
    return until


def _next_hour(armed: Armed, asked: Asked) -> int:
    """When the clock opens or closes an offer that runs."""
    offer = armed.offer
    _, minute = asked.local(offer.zone)
    borders = {0, *(each for span in offer.hours for each in span)}
    ahead = min((border - minute) % _DAY or _DAY for border in borders)
    # Clocks are put forward and back at quarters of an hour: what is beyond the next one is looked at then.
    quarter = (asked.at // _QUARTER + 1) * _QUARTER
    return min((asked.at // _MINUTE + ahead) * _MINUTE, quarter)
