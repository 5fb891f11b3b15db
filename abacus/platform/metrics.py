"""Every metric of Abacus, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from abacus.platform.durations import Durations

# The state of each worker of this process: 1 for the state that it is in, 0 for the others (health.WorkerState).
WORKER_STATE: Final = Gauge("abacus_worker_state", "1 for the state that a worker is in", ["worker", "state"])

# Messages read from the transactions topic or the retry queue, by outcome:
# awarded, ignored (a type that the card does not list), set_aside, deferred (to the retry queue).
TRANSACTIONS: Final = Counter("abacus_transactions", "Messages processed, by outcome", ["worker", "outcome"])

# Transactions that had to wait for a dependency, each time that they went to the retry queue.
RETRIES: Final = Counter("abacus_retries", "Transactions sent to the retry queue, by what was down", ["dependency"])

# Awards that the ledger decided: posted, duplicate, conflict, refused, rejected (over a partner's limit). The source
# is how the award's key begins: txn (a transaction), event (a fixed award), api (a partner); refund (a reversal).
AWARDS: Final = Counter("abacus_awards", "Awards decided by the ledger, by source and outcome", ["source", "outcome"])

# Movements that were requested. Kinds are spend, reserve (a hold), capture, release, adjustment and reversal.
MOVEMENTS: Final = Counter("abacus_movements", "Movements of points, by kind and outcome", ["kind", "outcome"])

# Points of posted awards, by program.
POINTS: Final = Counter("abacus_points_awarded", "Points posted, by program", ["program"])

# Items put into the quarantine, by stage (where) and reason (why; the closed list of core.errors.Reason).
QUARANTINED: Final = Counter("abacus_quarantined", "Items set aside, by stage and reason", ["stage", "reason"])

# Time from the transaction to its points: from `occurred_at` to posted.
TIME_TO_POINTS: Final = Durations(
    "abacus_time_to_points_seconds",
    "From the transaction's time to its posting",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 86400),
)

# One posting transaction in Postgres, and how many awards it held.
POSTING_SECONDS: Final = Histogram(
    "abacus_posting_seconds", "Duration of a posting transaction", buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
)
POSTING_AWARDS: Final = Histogram(
    "abacus_posting_awards", "Awards in a posting transaction", buckets=(1, 10, 50, 100, 200, 400, 800, 1000)
)

# Posting transactions that started again, because another claimed one of their keys or opened one of their accounts.
POSTING_RESTARTS: Final = Counter("abacus_posting_restarts", "Posting transactions that started again")

# Events published on the points stream.
PUBLISHED: Final = Counter("abacus_points_published", "Point events published")

# How long the oldest transfer that the relay published last had waited; 0 when nothing waits.
# A ledger that is not cut is one, called whole.
RELAY_BEHIND: Final = Gauge("abacus_relay_behind_seconds", "Age of what the relay publishes now", ["slice"])

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

# Accounts of the expiry queue, by outcome: expired, skipped (active again, or nothing left to lose).
EXPIRED: Final = Counter("abacus_expired", "Accounts taken from the expiry queue, by outcome", ["outcome"])

# Points that lapsed, by program.
EXPIRED_POINTS: Final = Counter("abacus_points_expired", "Points that lapsed, by program", ["program"])

# Requests to the API, by route and status; and how long they took.
REQUESTS: Final = Counter("abacus_api_requests", "API requests, by route and status", ["route", "status"])
REQUEST_SECONDS: Final = Histogram(
    "abacus_api_request_seconds",
    "Duration of API requests, by route",
    ["route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)

# Requests of partners that were not noted, because too many came in a second, or because the database is away.
REQUESTS_NOT_NOTED: Final = Counter("abacus_api_requests_not_noted", "Requests of partners that were not noted")

# Lookups of counters, by outcome: counted, invalid, unknown-key, counter-retired, beyond-keep, to-before-from,
# unavailable.
COUNT_LOOKUPS: Final = Counter("abacus_count_lookups", "Lookups of counters, by outcome", ["outcome"])

# Ranges of slots that lookups needed, by where their sums came from: memory, shared (the cache of all processes), round
# (another lookup of the same round needed it too), store.
COUNT_RANGES: Final = Counter("abacus_count_ranges", "Ranges of slots that lookups needed, by origin", ["origin"])

# One question to the store of counters, and how many ranges it held.
COUNT_STORE_SECONDS: Final = Histogram(
    "abacus_count_store_seconds",
    "Duration of a question to the store of counters",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)

# Connections and requests that the server of the API, or of a health port, ended before any route: connections,
# connections_of_address (too many are open), head_too_large, head_too_slow, body_too_large, body_too_slow, framing
# (more of it than content), malformed, pipelined (too many at once), reader_too_slow (of the answer).
API_REFUSED: Final = Counter("abacus_api_refused", "Connections and requests ended before any route", ["reason"])
API_CONNECTIONS: Final = Gauge("abacus_api_connections", "Open connections of callers")

# Awards that partners requested, by partner and outcome: accepted, replayed, refused.
PARTNER_AWARDS: Final = Counter(
    "abacus_partner_awards", "Awards asked for, by partner and outcome", ["partner", "outcome"]
)

# Events that senders posted, by source (unknown: none of that name) and outcome: accepted, refused.
EVENTS_POSTED: Final = Counter("abacus_events_posted", "Events posted, by source and outcome", ["source", "outcome"])

# Messages of large topics that were read (by the large topic), and those that were copied (by the sub-stream).
SUBSTREAM_MESSAGES: Final = Counter(
    "abacus_substream_messages", "Messages of large topics, read and copied", ["topic", "outcome"]
)

# Tries to tell partners of their awards, by type of message and outcome: delivered, retried (failed, to come again),
# given_up, gone (the receiver answered 410); and unreadable, for an event of the points stream that became no message.
WEBHOOKS: Final = Counter("abacus_webhook_deliveries", "Webhook tries, by type and outcome", ["type", "outcome"])

# Webhook messages that are still to be delivered, and the seconds since the oldest of them was made.
WEBHOOKS_WAITING: Final = Gauge("abacus_webhooks_waiting", "Webhook messages not yet delivered")
WEBHOOKS_OLDEST: Final = Gauge("abacus_webhooks_oldest_seconds", "Age of the oldest webhook message not yet delivered")

# Events of the points stream, by their effect on tiers: counted, seen (counted before), ignored (they
# change no earned points), unreadable.
TIER_EVENTS: Final = Counter("abacus_tier_events", "Point events heard by the tier keeper, by outcome", ["outcome"])

# Tiers that the keeper changed, by program, why (the closed list of tiers.keeping.Reason), and from which to which.
TIER_CHANGES: Final = Counter(
    "abacus_tier_changes", "Changes of tier by points", ["program", "reason", "from_tier", "to_tier"]
)

# Events published on the tiers stream; and how long the oldest of the last batch had waited.
TIERS_PUBLISHED: Final = Counter("abacus_tiers_published", "Tier events published")
TIERS_BEHIND: Final = Gauge("abacus_tiers_behind_seconds", "Age of the oldest tier event published now", ["slice"])

# Events that members might be told of: entered, known (read before), too_old (not told any more), unreadable.
NOTICES: Final = Counter("abacus_notices", "Events for members, by outcome", ["outcome"])

# Tries to tell members, by channel and outcome: sent, retried (failed, to come again), parked (for a person).
NOTIFICATIONS: Final = Counter(
    "abacus_notifications", "Notification tries, by channel and outcome", ["channel", "outcome"]
)

# Messages that are still to be sent over a channel, and the seconds since the oldest of them was made.
NOTIFICATIONS_WAITING: Final = Gauge("abacus_notifications_waiting", "Notifications not yet sent", ["channel"])
NOTIFICATIONS_OLDEST: Final = Gauge(
    "abacus_notifications_oldest_seconds", "Age of the oldest not yet sent", ["channel"]
)

# Events that the counter worker read, by topic and outcome: counted, ignored (no definition counts them), repeated (the
# sender sent them before), set_aside. And events that did not count for a definition although it names their type, by
# the reason (the closed list of counters.decide.counting.NotCounted).
COUNTER_EVENTS: Final = Counter(
    "abacus_counting_events", "Events read by the counter, by outcome", ["topic", "outcome"]
)
COUNTER_NOT_COUNTED: Final = Counter(
    "abacus_counting_not_counted", "Events that did not count for a definition", ["definition", "reason"]
)

# Events that the campaigner worker read, by topic and outcome: read, answered (some campaign's conditions hold),
# set_aside. And what came of them for campaigns, by outcome (the closed list of campaigns.decide.run.Outcome).
CAMPAIGN_EVENTS: Final = Counter("abacus_campaign_events", "Events read by the campaigner", ["topic", "outcome"])
CAMPAIGN_RUNS: Final = Counter("abacus_campaign_runs", "Events decided for campaigns, by outcome", ["outcome"])

# Events that went to the retry queue of campaigns, because a counter that a rule asks had not come to them.
CAMPAIGN_COUNTERS_BEHIND: Final = Counter(
    "abacus_campaign_counters_behind", "Events that waited for a counter in vain", ["topic"]
)

# Actions of campaigns that were tried, by receiver and outcome (done, refused, failed), those whose time has come and
# that wait, and the seconds since the oldest of them was due.
CAMPAIGN_ACTIONS: Final = Counter("abacus_campaign_actions", "Actions of campaigns", ["receiver", "outcome"])
RENDERINGS: Final = Counter("abacus_renderings", "Renderings of templates of messages", ["outcome"])
CAMPAIGN_ACTIONS_WAITING: Final = Gauge(
    "abacus_campaign_actions_waiting", "Actions of campaigns that are due and not done", ["receiver"]
)
CAMPAIGN_ACTIONS_OLDEST: Final = Gauge(
    "abacus_campaign_actions_oldest_seconds", "Since the oldest action that is not done was due", ["receiver"]
)

# Errands of the console that ended, by kind and state (done, failed); those refused to a person who has too many; those
# that wait, and for how long the first of them.
ERRANDS: Final = Counter("abacus_errands", "Errands of the console that ended", ["kind", "state"])
ERRANDS_REFUSED: Final = Counter("abacus_errands_refused", "Errands that a person may not ask for now")
ERRANDS_WAITING: Final = Gauge("abacus_errands_waiting", "Errands that wait for a place")
ERRANDS_OLDEST: Final = Gauge("abacus_errands_oldest_seconds", "For how long the first errand waits")

# Calls of services that campaigns ask, by service and outcome (answered, failed, not_asked), and how long those with an
# answer took.
SERVICE_CALLS: Final = Counter("abacus_service_calls", "Calls of external services", ["service", "outcome"])
SERVICE_SECONDS: Final = Histogram(
    "abacus_service_seconds",
    "From asking a service to its answer",
    ["service"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

# Rows of counters that this process holds in memory, those that it had to load, and those that it saved.
COUNTER_ROWS: Final = Gauge("abacus_counting_open_rows", "Rows of counters in memory")
COUNTER_ROWS_LOADED: Final = Counter("abacus_counting_rows_loaded", "Rows of counters loaded")
COUNTER_ROWS_SAVED: Final = Counter("abacus_counting_rows_saved", "Rows of counters saved")


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
