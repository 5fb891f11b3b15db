"""The metrics of offers, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

# Questions about offers, by outcome: whole, degraded (offers may be missing, because a part cannot be read now).
OFFER_QUESTIONS: Final = Counter("abacus_offer_questions", "Questions about offers that were answered", ["outcome"])

# The offers that this process holds, and offers whose rules do not fit what is published any more: these hold nowhere.
OFFERS_IN_FORCE: Final = Gauge("abacus_offers_in_force", "Offers in force")
OFFERS_UNFIT: Final = Gauge("abacus_offers_unfit", "Offers in force whose rule does not fit what is published")

# What came of offers, by outcome: reserved, redeemed, released, expired, rolled_back. Repetitions do not count.
OFFERS_TAKEN: Final = Counter("abacus_offers_taken", "What came of offers that were taken", ["outcome"])

# Requests that take offers and came to nothing, by reason (the closed list of offers.counted.REASONS, and other).
OFFERS_REFUSED: Final = Counter("abacus_offers_refused", "Requests to take offers that came to nothing", ["reason"])

# One transaction in Postgres, by what it does: reserve, settle (redeem and release).
OFFER_ROUND_REQUESTS: Final = Histogram(
    "abacus_offer_round_requests",
    "Requests in a round of taking",
    ["does"],
    buckets=(1, 2, 5, 10, 25, 50, 100, 200, 400),
)

# Reservations that wait, counted to a bound; for how long the first one is over that nobody has let go; and for how
# long the first award of points is due.
OFFER_RESERVATIONS_HELD: Final = Gauge("abacus_offer_reservations_held", "Reservations of offers that wait")
OFFER_OVERDUE_SECONDS: Final = Gauge(
    "abacus_offer_overdue_seconds", "Since the first reservation is over, and not let go"
)
OFFER_AWARDS_SECONDS: Final = Gauge("abacus_offer_awards_oldest_seconds", "Since the first award of an offer is due")

# offer: by its name, of the offers in force with a pool of single codes; each is counted once a minute.
OFFER_CODES_FREE: Final = Gauge("abacus_offer_codes_free", "Free single codes of an offer", ["offer"])
OFFER_CODES_LOW: Final = Gauge("abacus_offer_codes_low", "1 where few single codes are free, else 0", ["offer"])
