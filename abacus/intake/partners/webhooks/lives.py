"""How long messages to partners stay that were given up."""

from datetime import timedelta

from abacus.platform.retention.life import Life


def lives(kept: timedelta) -> tuple[Life, ...]:
    """Until then a person may send them again."""
    return (Life("webhook_delivery", "given_up_at < :before", kept),)
