"""What the settings say of the parts whose state is looked at."""

from abacus.oversight.status.capabilities import CAPABILITIES
from abacus.oversight.status.sources import Group
from abacus.platform.settings import Settings


def groups_of(settings: Settings) -> list[Group]:
    """The consumer groups whose lag people look at."""
    return [
        Group(getattr(settings, topic), f"{settings.queue_prefix}{group}", worker)
        for capability in CAPABILITIES
        for topic, group, worker in capability.follows
    ]
