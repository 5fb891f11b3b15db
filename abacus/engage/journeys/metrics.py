"""The metrics of journeys, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Members who were at the gate, by outcome: entered, not_again (a member does not come in another time), or
# refused (by the rule, the holdout or the time).
JOURNEY_ENTRIES: Final = Counter(
    "abacus_journey_entries", "Members who come into journeys, or do not again", ["outcome"]
)
# Events that the journeyer worker read, by topic and outcome: read, set_aside.
JOURNEY_EVENTS: Final = Counter("abacus_journey_events", "Events read by the journeyer", ["topic", "outcome"])
# Members who went on from a wait whose time had come.
JOURNEY_STEPS: Final = Counter("abacus_journey_steps", "Members who went on in journeys when their time had come")
# Members who could not be moved, or for whom a deed could not be done, and were set aside; and how many are set aside
# now, by journey.
JOURNEY_SET_ASIDE: Final = Counter("abacus_journey_set_aside", "Members of journeys who were set aside")
JOURNEY_ASIDE: Final = Gauge("abacus_journey_aside", "Members of journeys who are set aside", ["journey"])
# Seconds since the first wait was over that nobody has run; packs of members who wait, counted to 100,000 in a slice.
JOURNEY_LATE: Final = Gauge("abacus_journey_late_seconds", "Since the first wait was over that is not run")
JOURNEY_PACKS: Final = Gauge("abacus_journey_packs", "Packs of members who wait in journeys")
# What waits to be done, and seconds since the first of it was decided that a journeyer would do. `what`: deeds, rows of
# what was decided for members together; orders, to start or end visits; entries, which could not be decided, since the
# first should have been tried again. Counted to 100,000 in a slice.
JOURNEY_WAITING: Final = Gauge("abacus_journey_waiting", "What waits to be done in journeys", ["what"])
JOURNEY_WAITING_FOR: Final = Gauge(
    "abacus_journey_waiting_seconds", "Since the first was decided that waits to be done in journeys", ["what"]
)
