"""What is counted of rewards."""

from typing import Final

from prometheus_client import Counter, Gauge

# stage: given, sent, fulfilled, refused, cancelled, returned
REDEMPTIONS: Final = Counter("abacus_reward_redemptions", "Redemptions that came to a stage", ["stage"])
# reason: the closed list of rewards.decide.price.Lock, of redemptions that were begun
REFUSALS: Final = Counter("abacus_reward_refusals", "Redemptions that were begun and refused", ["reason"])
REDEMPTIONS_UNFINISHED: Final = Gauge(
    "abacus_reward_redemptions_unfinished", "Redemptions that nothing has happened to for a minute"
)
REDEMPTIONS_LATE: Final = Gauge("abacus_reward_redemptions_late", "Redemptions that no fulfiller has reported in time")
# pool: by its name, of the pools that rewards in force use
CODES_FREE: Final = Gauge("abacus_reward_codes_free", "Free codes of a pool", ["pool"])
CODES_LOW: Final = Gauge("abacus_reward_codes_low", "1 where a reward wants more free codes, else 0", ["pool"])
