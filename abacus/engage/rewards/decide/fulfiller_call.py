"""A call of a fulfiller: it waits as an action of the member, under the key of the redemption. Pure.

The worker `campaigner` carries actions out. It signs calls as Standard Webhooks, and tries them for days.
"""

from datetime import datetime
from typing import Final

import orjson

from abacus.core.ids import redemption_key
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import PlannedAction
from abacus.engage.downstreams.decide.downstream import WEBHOOK_PREFIX
from abacus.engage.rewards.decide.redemption import Redemption, Stage
from abacus.engage.rewards.decide.reward import OWNER_KIND

_ASKED: Final = 1  # the number of an action: that which asks for the piece
_CALLED_OFF: Final = 2


def call_of(each: Redemption, webhook: str, now: datetime) -> PlannedAction:
    """It asks for what is taken, and calls off what is cancelled."""
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
        key=redemption_key(each.redemption_id),
        number=_CALLED_OFF if is_off else _ASKED,
        owner_kind=OWNER_KIND,
        owner=each.reward,
        version=each.version,
        step=0,
        variant=None,
        kind=DeedKind.CALL,
        receiver=WEBHOOK_PREFIX + webhook,
        due_at=now,
        document=orjson.dumps(document),
        event=None,
    )
