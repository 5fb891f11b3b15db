"""The metrics of counters, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

# Lookups of counters, by outcome: counted, invalid, unknown-key, counter-retired, beyond-keep, to-before-from,
# unavailable.
COUNT_LOOKUPS: Final = Counter("abacus_count_lookups", "Lookups of counters, by outcome", ["outcome"])

# Series that were asked for, by outcome: told, invalid, unknown-key, counter-retired, beyond-keep, to-before-from,
# grain-not-kept, too-many-slots, unavailable.
COUNT_SERIES: Final = Counter("abacus_count_series", "Series of counters, by outcome", ["outcome"])

# Ranges of slots that lookups needed and no cache had, by where their sums came from: round (an open range that another
# lookup of the same round needed too), store. Of closed parts `abacus_cache_answers` tells, by the route `counts`.
COUNT_RANGES: Final = Counter("abacus_count_ranges", "Ranges of slots that lookups needed, by origin", ["origin"])

# One question to the store of counters, and how many ranges it held.
COUNT_STORE_SECONDS: Final = Histogram(
    "abacus_count_store_seconds",
    "Duration of a question to the store of counters",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)

# Events that the counter worker read, by topic and outcome: counted, ignored (no definition counts them), repeated (the
# sender sent them before), set_aside. And events that did not count for a definition although it names their type, by
# the reason (the closed list of counters.decide.event_measure.NotCounted).
COUNTER_EVENTS: Final = Counter(
    "abacus_counting_events", "Events read by the counter, by outcome", ["topic", "outcome"]
)
COUNTER_NOT_COUNTED: Final = Counter(
    "abacus_counting_not_counted", "Events that did not count for a definition", ["definition", "reason"]
)

# What events added: one for each slot of each key under which an event counts. Divided by the rows that were saved, it
# tells how well increments are gathered.
COUNTER_INCREMENTS: Final = Counter("abacus_counting_increments", "Additions of an event to a slot of a key")

# Rows of counters that this process holds in memory, rows that it had to load, and rows that it saved.
COUNTER_ROWS: Final = Gauge("abacus_counting_open_rows", "Rows of counters in memory")
COUNTER_ROWS_LOADED: Final = Counter("abacus_counting_rows_loaded", "Rows of counters loaded")
COUNTER_ROWS_SAVED: Final = Counter("abacus_counting_rows_saved", "Rows of counters saved")
