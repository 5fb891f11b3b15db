"""What the settings say of the parts whose state is looked at."""

from abacus.oversight.status.sources import Group
from abacus.platform.settings import Settings


def groups_of(settings: Settings) -> list[Group]:
    """The consumer groups whose lag people look at."""
    prefix = settings.queue_prefix
    return [
        Group(settings.transactions_topic, f"{prefix}calculator", "calculator"),
        Group(settings.points_topic, f"{prefix}tierkeeper", "tierkeeper"),
        Group(settings.points_topic, f"{prefix}webhooks", "webhooks"),
        Group(settings.points_topic, f"{prefix}notifier", "notifier"),
        Group(settings.tiers_topic, f"{prefix}notifier-tiers", "notifier"),
    ]
