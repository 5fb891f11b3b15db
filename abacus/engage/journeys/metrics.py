"""The metrics of journeys, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Members who were at the gate, by outcome: entered, or not_again (a member does not come in another time).
JOURNEY_ENTRIES: Final = Counter(
    "abacus_journey_entries", "Members who come into journeys, or do not again", ["outcome"]
)
# Events that the journeyer worker read, by topic and outcome: read, set_aside.
JOURNEY_EVENTS: Final = Counter("abacus_journey_events", "Events read by the journeyer", ["topic", "outcome"])
# Members who went on from a wait whose time had come.
JOURNEY_STEPS: Final = Counter("abacus_journey_steps", "Members who went on in journeys when their time had come")
