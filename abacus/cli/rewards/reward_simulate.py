"""`abacus rewards simulate`: whether a member can have a reward, and why not. Nothing is taken."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from abacus.cli.documents.chosen import chosen
from abacus.cli.rewards.counter import reward_counter
from abacus.cli.rewards.redeeming import Member, Points, Quantity
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.shell import moment
from abacus.core.points import plain
from abacus.engage.rewards.decide.delivered import delivered
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.preview import Foreseen, Look
from abacus.people.types.deed import Deed


async def simulate_reward(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="A reward, or the file of a draft.", show_default=False)
    ],
    member: Member,
    quantity: Quantity = 1,
    points: Points = None,
    when: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="With an offset. Default: now.", show_default=False)
    ] = None,
) -> Answer:
    """Say whether a member can have a reward, at which price, what would be held, how it is delivered, and everything
    that is against it.

    It is as if this version were in force, with the points of the member and what is left of the reward now. Nothing is
    taken.
    """
    at_time = None if when is None else moment("--at", when)
    async with reward_counter() as counter:
        reward = await chosen(which, counter.rewards, counter.beside)
        counter.at.check(Deed.SEE, reward.country)
        now = at_time or counter.at.clock.now()
        asked, standings = Look(member, quantity, points), await counter.standings(member)
        found = await counter.preview.look(Offered(reward, counter.beside), asked, standings, now)
    return Answer(_document(reward, found, now), *_shown(reward, found))


def _document(reward: Reward, found: Foreseen, at: datetime) -> dict[str, Any]:
    opened = found.opened
    return {
        "reward": _label(reward),
        "member_id": opened.member_id,
        "at": at,
        "can_have": found.can_have,
        "quantity": opened.quantity,
        "program": opened.program,
        "points": opened.points,
        "money": plain(opened.money),
        "available": found.available,
        "delivered": delivered(opened),
        "locks": [{"reason": each.lock, "detail": each.detail} for each in found.locks],
        "told": found.is_told,
    }


def _shown(reward: Reward, found: Foreseen) -> Iterator[str]:
    opened, label = found.opened, _label(reward)
    money = f" and {plain(opened.money)} in money" if opened.money else ""
    price = f"{opened.points} points of {opened.program}{money}"
    if found.can_have:
        yield f"{opened.member_id} can have {label} for {price}"
        yield f"{opened.points} of {found.available} points would be held, then paid"
    else:
        yield f"{opened.member_id} cannot have {label} for {price}; {found.available} points are available"
    yield f"delivered as {delivered(opened)}"
    for each in found.locks:
        yield f"against it: {each.lock}: {each.detail}"
    if not found.is_told:
        yield "whether it is for the member cannot be told now"


def _label(reward: Reward) -> str:
    return reward.label if reward.version else reward.name
