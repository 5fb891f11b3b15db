"""How positions are taken."""

from functools import partial

from abacus.platform.wiring import Wiring
from abacus.signals.places.position_desk import PositionDesk, Publish, without_broker


async def position_desk(wiring: Wiring, *, within_s: float) -> PositionDesk:
    """For positions that partners post. Without a broker none are taken."""
    publish: Publish = without_broker
    if wiring.settings.kafka_bootstrap is not None:
        publish = partial(wiring.publisher(within_s=within_s).publish, wiring.settings.positions_topic)
    return PositionDesk(publish)
