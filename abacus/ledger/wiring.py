"""What the settings say of moving points."""

from abacus.ledger.types.alone import Alone, Sums
from abacus.platform.settings import Settings


def alone_of(settings: Settings) -> Alone:
    """How many points somebody may move without a second person."""
    sums = Sums(
        actor_day=settings.alone_actor_day,
        actor_month=settings.alone_actor_month,
        member_day=settings.alone_member_day,
        member_month=settings.alone_member_month,
    )
    return Alone(settings.adjustment_limit, settings.reversal_limit, sums)
