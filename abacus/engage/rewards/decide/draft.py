"""A redemption as it is opened, from what a caller asks for. Pure."""

from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from abacus.core.sources import Agent
from abacus.engage.rewards.decide.price import Quote
from abacus.engage.rewards.decide.redemption import Redemption, Stage, redemption_id
from abacus.engage.rewards.decide.reward import AsPoints, ByInvitation, ByWebhook, FromPool, Reward


class Ask(NamedTuple):
    """What a caller asks for. With `points`, the member pays no more points than that, and the rest in money."""

    key: str
    member_id: str
    reward: str
    quantity: int
    points: int | None
    agent: Agent


class Wanted(NamedTuple):
    """A reward that is looked at, on a day of its zone."""

    reward: str
    day: date
    pool: str | None


def wanted_of(reward: Reward, now: datetime) -> Wanted:
    pool = reward.delivery.pool if isinstance(reward.delivery, FromPool) else None
    return Wanted(reward.name, now.astimezone(reward.zone).date(), pool)


def draft_of(reward: Reward, ask: Ask, price: Quote, *, facts: str, program: str, now: datetime) -> Redemption:
    called = reward.delivery if isinstance(reward.delivery, ByWebhook) else None
    awarded = reward.delivery if isinstance(reward.delivery, AsPoints) else None
    wanted = wanted_of(reward, now)
    return Redemption(
        key=ask.key,
        redemption_id=redemption_id(ask.key),
        fingerprint=facts,
        member_id=ask.member_id,
        program=program,
        country=reward.country,
        reward=reward.name,
        version=reward.version,
        quantity=ask.quantity,
        points=price.points,
        money=Decimal(price.money),
        day=wanted.day,
        pool=wanted.pool,
        webhook=called.webhook if called is not None else None,
        partner=called.partner if called is not None else None,
        late_at=now + called.late_after if called is not None else None,
        offer=reward.delivery.offer if isinstance(reward.delivery, ByInvitation) else None,
        award_program=awarded.program if awarded is not None else None,
        award_points=awarded.points * ask.quantity if awarded is not None else None,
        actor=ask.agent.actor,
        source=ask.agent.source,
        stage=Stage.OPENED.value,
        reason=None,
        detail=None,
        asked_at=now,
        changed_at=now,
    )


def looking(reward: Reward, member_id: str, quantity: int, price: Quote, *, program: str, now: datetime) -> Redemption:
    """The redemption that a member would open, for a look at what is against it. It has no key."""
    ask = Ask("", member_id, reward.name, quantity, None, Agent("", ""))
    return draft_of(reward, ask, price, facts="", program=program, now=now)
