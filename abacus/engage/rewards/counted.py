"""Rows of redemptions that count the stages that redemptions come to, and why some are refused."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from abacus.engage.rewards.decide.price import Lock
from abacus.engage.rewards.decide.redemption import UNFINISHED, Stage
from abacus.engage.rewards.metrics import REDEMPTIONS, REFUSALS
from abacus.engage.rewards.redemption_rows import RedemptionRows, Step


class CountedRows(RedemptionRows):
    """`RedemptionRows` whose steps are counted when they are written."""

    async def step(self, steps: Sequence[Step], now: datetime) -> None:
        await super().step(steps, now)
        for stage, count in Counter(each.stage for each in steps if each.stage not in UNFINISHED).items():
            REDEMPTIONS.labels(stage).inc(count)
        for reason, count in Counter(each.reason for each in steps if each.stage == Stage.REFUSED).items():
            REFUSALS.labels(reason or Lock.HOLD).inc(count)

    async def untake(self, keys: Collection[str], stage: Stage, to: Stage, reason: str | None, now: datetime) -> None:
        await super().untake(keys, stage, to, reason, now)
        REDEMPTIONS.labels(to).inc(len(keys))
        if to is Stage.REFUSED:
            REFUSALS.labels(reason or Lock.HOLD).inc(len(keys))
