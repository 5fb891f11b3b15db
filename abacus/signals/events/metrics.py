"""The metrics of events, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Events that senders posted, by source (unknown: none of that name) and outcome: accepted, refused.
EVENTS_POSTED: Final = Counter("abacus_events_posted", "Events posted, by source and outcome", ["source", "outcome"])

# Messages of large topics that were read (by the large topic), and messages that were copied (by the sub-stream).
SUBSTREAM_MESSAGES: Final = Counter(
    "abacus_substream_messages", "Messages of large topics, read and copied", ["topic", "outcome"]
)
