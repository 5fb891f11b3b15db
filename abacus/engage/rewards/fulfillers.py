"""Calls fulfillers: a call of a webhook waits as an action of the member, under the key of the redemption.

The worker `campaigner` carries actions out. It signs calls as Standard Webhooks, and tries them for days.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson

from abacus.engage.actions.action_store import plan_anew
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import PlannedAction
from abacus.engage.downstreams.decide.downstream import WEBHOOK_PREFIX
from abacus.engage.rewards.decide.redemption import Redemption, Stage
from abacus.engage.rewards.decide.reward import OWNER_KIND
from abacus.platform import slices
from abacus.platform.postgres import Pool

_ASKED: Final = 1  # the number of an action: that which asks for the piece
_CALLED_OFF: Final = 2


async def call_fulfillers(pool: Pool, redemptions: Sequence[Redemption], now: datetime) -> None:
    """Asks for what was paid, and calls off what is cancelled; each once. Raises `Unavailable`."""
    for each in redemptions:
        async with slices.at(pool, each.member_id) as connection:
            await plan_anew(connection, _action(each, now), now)


def _action(each: Redemption, now: datetime) -> PlannedAction:
    is_off = each.stage == Stage.CANCELLING
    document = {
        "state": "cancelled" if is_off else "asked",
        "redemption_id": str(each.redemption_id),
        "reward": f"{each.reward}@{each.version}",
        "member_id": each.member_id,
        "country": each.country,
        "quantity": each.quantity,
        "points": each.points,
        "money": str(each.money),
        "late_at": each.late_at,
    }
    return PlannedAction(
        member_id=each.member_id,
        key=f"redemption:{each.redemption_id}",
        number=_CALLED_OFF if is_off else _ASKED,
        owner_kind=OWNER_KIND,
        owner=each.reward,
        version=each.version,
        step=0,
        variant=None,
        kind=DeedKind.CALL,
        receiver=WEBHOOK_PREFIX + (each.webhook or ""),
        due_at=now,
        document=orjson.dumps(document),
        event=None,
    )
