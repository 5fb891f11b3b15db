"""Rows of redemptions that count the stages that redemptions come to, and why some are refused."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import UNFINISHED, Stage
from abacus.engage.rewards.metrics import REDEMPTIONS, REFUSALS
from abacus.engage.rewards.redemption_rows import RedemptionRows, Step


class CountedRows(RedemptionRows):
    """`RedemptionRows` whose steps are counted when they are written."""

    async def step(self, steps: Sequence[Step], now: datetime) -> None:
        await super().step(steps, now)
        for stage, count in Counter(each.stage for each in steps if _comes_to_it(each)).items():
            REDEMPTIONS.labels(stage).inc(count)
        for reason, count in Counter(each.reason for each in steps if each.stage == Stage.REFUSED).items():
            REFUSALS.labels(reason or Lock.HOLD).inc(count)

    async def untake(self, why: Mapping[str, Locked | None], stage: Stage, to: Stage, now: datetime) -> None:
        await super().untake(why, stage, to, now)
        if to not in UNFINISHED:
            REDEMPTIONS.labels(to).inc(len(why))
        if to is Stage.REFUSED:
            for lock, count in Counter(Lock.HOLD if each is None else each.lock for each in why.values()).items():
                REFUSALS.labels(lock).inc(count)


def _comes_to_it(step: Step) -> bool:
    """Not what stays with the member when it was to come back."""
    return step.stage not in UNFINISHED and (step.stage != Stage.GIVEN or step.was == Stage.TAKEN)
