"""Grants rewards: each deed is a redemption without points under its own key, once."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import orjson

from abacus.core.clock import Clock
from abacus.core.sources import campaign_source, source_of_key
from abacus.engage.actions.action_store import Batch
from abacus.engage.actions.types import DueAction, Refusals
from abacus.engage.rewards.decide.granted import RewardGrant, granted
from abacus.engage.rewards.decide.price import Locked
from abacus.engage.rewards.directory import RewardDirectory
from abacus.engage.rewards.redeemer import KeyReused, Order, Redeemer
from abacus.engage.rewards.reward_store import RewardStore
from abacus.pricing.decide.book import CardBook

_REWARD: Final = "reward"


class RewardGrants:
    """A `Handover` of deeds that grant rewards. A deed waits while its reward is paused, or has not begun."""

    def __init__(
        self,
        redeemer: Redeemer,
        rewards: RewardDirectory,
        store: RewardStore,
        book: Callable[[], CardBook],
        clock: Clock,
    ) -> None:
        self._redeemer = redeemer
        self._rewards = rewards
        self._store = store
        self._book = book
        self._clock = clock

    async def hand_over(self, _: Batch, actions: Sequence[DueAction]) -> Refusals:
        """Raises `Unavailable`."""
        grants = {
            each: RewardGrant(
                f"{each.key}/{each.number}", each.member_id, orjson.loads(each.document)[_REWARD], _source(each)
            )
            for each in actions
        }
        names = {each.reward for each in grants.values()}
        if any(name not in self._rewards.value() for name in names):  # it may be in force since a moment
            await self._rewards.read_anew()
        waiting = await self._store.waiting(names, self._clock.now())
        later = [action for action, grant in grants.items() if grant.reward in waiting]
        now = {action: grant for action, grant in grants.items() if grant.reward not in waiting}
        told = await asyncio.gather(*map(self._refusal, now.values()))
        return Refusals({action: why for action, why in zip(now, told, strict=True) if why is not None}, later)

    async def _refusal(self, grant: RewardGrant) -> str | None:
        try:
            await self._redeemer.redeem(self._order(grant))
        except Locked as fault:
            return fault.detail
        except KeyReused as fault:
            return str(fault)
        return None

    def _order(self, grant: RewardGrant) -> Order:
        """What was granted before under the key stands, whatever the reward is now."""
        now, found = self._clock.now(), self._rewards.value().get(grant.reward)
        reward = None if found is None else found.reward
        program = "" if reward is None else self._book().in_force(reward.country, now).card.program
        try:
            return Order(grant.key, grant.facts, granted(grant, reward, program, now))
        except Locked as fault:
            return Order(grant.key, grant.facts, None, fault)


def _source(action: DueAction) -> str:
    """The campaign or the journey that grants."""
    return source_of_key(action.key) or campaign_source(action.owner)
