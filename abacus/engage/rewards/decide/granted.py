"""Rewards that campaigns and journeys grant: which may be, and the redemption without points that a grant is. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from abacus.core.fields import Bad, quoted
from abacus.core.ids import fingerprint
from abacus.core.sources import Agent
from abacus.engage.rewards.decide.draft import Ask, draft_of
from abacus.engage.rewards.decide.price import Lock, Locked, Quote
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.decide.reward import AsPoints, Reward


class RewardHead(NamedTuple):
    """What another document has to know of a reward that it names: what members pay for it, and whether it is points of
    a program.
    """

    country: str
    points: int
    gives_points: bool


def head_of_reward(reward: Reward) -> RewardHead:
    return RewardHead(reward.country, reward.price.points, isinstance(reward.delivery, AsPoints))


def check_grants(name: str, known: Mapping[str, RewardHead], country: str) -> RewardHead:
    """The reward, which a document of the country may grant. Raises `Bad`."""
    head = known.get(name)
    if head is None:
        raise Bad(f"no reward {quoted(name)} is there; `abacus rewards list` prints all")
    if head.country != country:
        raise Bad(f"{name} is a reward of {head.country}, this is of {country}")
    return head


class RewardGrant(NamedTuple):
    """A reward is granted to a member, by a campaign or a journey as its source, under a key."""

    key: str
    member_id: str
    reward: str
    source: str

    @property
    def facts(self) -> str:
        """Equal keys with other facts are a conflict."""
        return fingerprint(("redemption-grant", self.member_id, self.reward))


def granted(grant: RewardGrant, reward: Reward | None, program: str, now: datetime) -> Redemption:
    """One piece without points. Who may have it, its price and its hours are for members who buy it. Raises `Locked`
    where it is not there.
    """
    if reward is None or not reward.starts_at <= now < reward.ends_at:
        raise Locked(Lock.CLOSED, f"the reward {grant.reward} is not in force")
    ask = Ask(grant.key, grant.member_id, reward.name, 1, None, Agent(grant.source, grant.source))
    return draft_of(reward, ask, Quote(0), facts=grant.facts, program=program, now=now)
