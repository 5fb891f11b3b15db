"""The metrics of the platform, in one list; a capability has its own beside it. Names are stable: dashboards and alerts
rely on them.
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

# The state of each worker of this process: 1 for the state that it is in, 0 for the others (health.WorkerState).
WORKER_STATE: Final = Gauge("abacus_worker_state", "1 for the state that a worker is in", ["worker", "state"])

# Items put into the quarantine, by stage (where) and reason (why; the closed list of core.errors.Reason).
QUARANTINED: Final = Counter("abacus_quarantined", "Items set aside, by stage and reason", ["stage", "reason"])

# Messages of a queue that wait for a worker, and the age of the oldest message in the hands of this process; while
# others wait, that of the oldest message of its last receive if that is older. Each process that works with a queue
# reports for itself: take the maximum over processes, not the sum.
QUEUE_MESSAGES: Final = Gauge("abacus_queue_messages", "Messages waiting in a queue", ["queue"])
QUEUE_AGE: Final = Gauge("abacus_queue_oldest_seconds", "Age of the oldest message in hand or waiting", ["queue"])

# Connections to Postgres that a worker of this process holds, by server, and how many of all of them are idle.
POOL_CONNECTIONS: Final = Gauge("abacus_database_connections", "Open connections to Postgres", ["worker", "server"])
POOL_IDLE: Final = Gauge("abacus_database_connections_idle", "Of these, idle ones", ["worker"])
CLOCK_BEHIND: Final = Gauge("abacus_clock_behind_seconds", "How far the computer's clock is behind the database's")

# Pools of this process that find a server with slices away; nobody tries it meanwhile.
SERVERS_AWAY: Final = Gauge("abacus_servers_away", "Pools for which a server is away", ["server"])

# How long the oldest transaction that is prepared on a server, and not yet committed or rolled back, has been so.
PREPARED_OLDEST: Final = Gauge(
    "abacus_prepared_oldest_seconds", "Age of the oldest prepared transaction of this ledger", ["server"]
)

# Messages on the transactions topic that this process' partitions still have to read.
CONSUMER_LAG: Final = Gauge("abacus_consumer_lag", "Messages not yet read", ["topic", "partition"])

# Messages that the broker deleted before this group had read them: by age or size of the topic, or by hand.
MESSAGES_FORGOTTEN: Final = Counter(
    "abacus_messages_forgotten", "Messages deleted before they were read", ["topic", "group"]
)

# Partitions of a topic that are paused at the moment, because the batch in hand takes long.
PARTITIONS_PAUSED: Final = Gauge("abacus_partitions_paused", "Partitions that are not read for the moment", ["topic"])

# Seconds since the rate cards were last read.
CARDS_AGE: Final = Gauge("abacus_rate_cards_age_seconds", "Age of the rate cards in use")

# Answers of caches by meaning, by outcome: hit, stale (refreshed behind the answer), shared (the cache that processes
# share had it), wait (another caller's computation was waited for), miss, away (it could not be computed, and an older
# one was given), passed (it is kept of a share of the keys only), failed. And how old those were that were not fresh.
CACHE_ANSWERS: Final = Counter("abacus_cache_answers", "Answers of caches, by outcome", ["route", "outcome"])
CACHE_STALE_SECONDS: Final = Histogram(
    "abacus_cache_stale_seconds",
    "Age of answers that were not fresh",
    ["route"],
    buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600),
)

# Refreshes behind answers, by outcome: done, failed, left (to another process that has begun).
CACHE_REFRESHES: Final = Counter("abacus_cache_refreshes", "Refreshes of answers of caches", ["route", "outcome"])

# Answers that caches let go before their time, by why: room, change; or did not keep: overtaken (by a change while they
# were computed).
CACHE_LET_GO: Final = Counter("abacus_cache_let_go", "Answers that caches do not keep any longer", ["route", "why"])

# What the caches of this process hold. Of parts, entries are the keys that have some.
CACHE_BYTES: Final = Gauge("abacus_cache_bytes", "Bytes of the answers that caches keep", ["route"])
CACHE_ENTRIES: Final = Gauge("abacus_cache_entries", "Answers that caches keep", ["route"])


def total(counter: Counter, **labels: str) -> int:
    """What a counter has counted in this process, over all series that have these labels."""
    return int(
        sum(
            sample.value
            for metric in counter.collect()
            for sample in metric.samples
            if sample.name.endswith("_total") and labels.items() <= sample.labels.items()
        )
    )
