"""What the settings say of how long rows stay and of the disks, and the caretaker."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.engage.actions import lives as of_actions
from abacus.engage.campaigns import lives as of_campaigns
from abacus.engage.journeys import lives as of_journeys
from abacus.engage.notify import lives as of_messages
from abacus.intake.partners.webhooks import lives as of_webhooks
from abacus.oversight.growth.caretaker import Caretaker
from abacus.platform.retention.life import Life
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring

_CONNECTIONS: Final = 2  # one has the lease
_GB: Final = 1_000_000_000


def lives_of(settings: Settings) -> Sequence[Life]:
    """Of tables that are cut. A capability whose rows have their time takes its place here."""
    engaged = timedelta(days=settings.engage_keep_days)
    undelivered = timedelta(days=settings.undelivered_keep_days)
    return (
        *(life for room in (of_actions, of_campaigns, of_journeys) for life in room.lives(engaged)),
        *(life for room in (of_messages, of_webhooks) for life in room.lives(undelivered)),
    )


def disk_of(settings: Settings) -> int | None:
    """The bytes of the disks; None where nobody told."""
    return None if settings.database_disk_gb is None else round(settings.database_disk_gb * _GB)


async def take_care(wiring: Wiring) -> None:
    """Beside the worker, until it ends."""
    settings = wiring.settings
    pool = await wiring.pool(size=_CONNECTIONS)
    caretaker = Caretaker(
        pool,
        wiring.clock,
        lives_of(settings),
        replayed_kept=timedelta(days=settings.replayed_keep_days),
        disk=disk_of(settings),
    )
    wiring.beside(caretaker.keep())
