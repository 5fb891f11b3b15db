"""How long messages waited in the last hour, as charts with the line above which an alert begins. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.console.decide.charts import Along, Chart, Line, Threshold
from abacus.oversight.status.decide.alert_levels import ALERT_LEVELS, OF_QUEUES, RELAY_BEHIND, WEBHOOKS_LATE

RELAY: Final = "relay"
WEBHOOKS: Final = "webhooks"
# What waits: what its chart is called, and the alert on it.
_CHARTS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (f"The oldest message of the {name} queue", alert) for name, alert in OF_QUEUES.items()},
    RELAY: ("Points that others have not heard of: the oldest", RELAY_BEHIND),
    WEBHOOKS: ("Webhook messages that did not arrive: the oldest", WEBHOOKS_LATE),
}
_FEWEST: Final = 2  # readings that make a line


class Reading(NamedTuple):
    """For how many seconds the oldest of each had waited then; 0 where nothing waited."""

    at: datetime
    waits_s: Mapping[str, float]


def charts_of(readings: Sequence[Reading]) -> Sequence[Chart]:
    """Of what any reading knows."""
    if len(readings) < _FEWEST:
        return ()
    times = [int(each.at.timestamp()) for each in readings]
    return [
        Chart(
            title,
            Along.MOMENTS,
            times,
            [Line("waits for", [each.waits_s.get(name) for each in readings])],
            "seconds",
            [Threshold("an alert begins", ALERT_LEVELS[alert])],
        )
        for name, (title, alert) in _CHARTS.items()
        if any(name in each.waits_s for each in readings)
    ]
