"""How long messages stay that are parked."""

from datetime import timedelta

from abacus.platform.retention.life import Life


def lives(kept: timedelta) -> tuple[Life, ...]:
    """Until then a person may send them again."""
    return (Life("notification", "parked_at < :before", kept),)
