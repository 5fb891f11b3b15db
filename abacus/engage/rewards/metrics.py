"""What is counted of rewards."""

from typing import Final

from prometheus_client import Counter

# stage: given, sent, refused, cancelled, returned
REDEMPTIONS: Final = Counter("abacus_reward_redemptions", "Redemptions that came to a stage", ["stage"])
