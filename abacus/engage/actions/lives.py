"""How long actions stay that are done or refused."""

from datetime import timedelta

from abacus.engage.actions.decide.deeds import DeedKind
from abacus.platform.retention.life import Life


def lives(kept: timedelta) -> tuple[Life, ...]:
    """Awards stay: each is held against its transfer. No event is decided twice because its claim stays, and no deed of
    a journey becomes an action twice because the deed is gone.
    """
    over = f"kind <> '{DeedKind.AWARD}' and decided_at < :before and coalesce(done_at, refused_at) < :before"
    return (Life("action", over, kept),)
