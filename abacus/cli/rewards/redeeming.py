"""`abacus rewards available` and `redeem`: what a member can have, and redeeming it for the member, for support."""

from typing import Annotated, Any
from uuid import uuid4

import typer

from abacus.api.redemption_answers import listed_reward, redemption_facts
from abacus.cli.rewards.counter import RewardCounter, reward_counter
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.known import checked_reason
from abacus.core.errors import Refused, absent
from abacus.engage.rewards.decide.draft import Ask
from abacus.engage.rewards.decide.price import Locked
from abacus.engage.rewards.decide.redemption import Redemption, redemption_id
from abacus.engage.rewards.redemption_desk import MOST_PIECES
from abacus.people.types.deed import Deed
from abacus.platform.encryption import SecretUnreadable

Member = Annotated[str, typer.Option(metavar="ID", help="The member.", show_default=False)]
Quantity = Annotated[int, typer.Option(min=1, max=MOST_PIECES, help="The number of pieces.")]
Points = Annotated[
    int | None,
    typer.Option(min=0, help="No more points than that, the rest in money; where the reward allows it."),
]


async def available_rewards(member: Member) -> Answer:
    """List the rewards that are there for a member, the cheapest first: what it can have, and why not the others."""
    async with reward_counter() as counter:
        found = await counter.redemptions.listed(member, await counter.known_standings(member))
    told = [listed_reward(each) for each in found.listed]
    rows = [[each["name"], each["country"], each["points"], _against(each)] for each in told]
    document = {"member_id": member, "rewards": told, "degraded": found.is_degraded}
    table = Table(f"Rewards for {member}", ("reward", "country", "points", "against it"), rows)
    missing = ["rewards may be missing: what they ask of the member cannot be told now"] if found.is_degraded else []
    return Answer(document, table, *missing)


async def redeem_reward(
    reward: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    member: Member,
    reason: Annotated[str, typer.Option(help="For the log.", show_default=False)],
    quantity: Quantity = 1,
    points: Points = None,
    key: Annotated[
        str | None, typer.Option(help="Doing it again under the same key does nothing more; a new one where not given.")
    ] = None,
) -> Answer:
    """Redeem a reward for a member: points are held, stock and a code are taken, then the points are paid."""
    why, key = checked_reason(reason), f"redemption:ops:{key or uuid4()}"
    async with reward_counter() as counter:
        country = await _country(counter, reward, key)
        standings = await counter.standings(member)
        details = {"did": "redeem", "of": reward, "redemption": redemption_id(key).hex, "reason": why}
        await counter.at.begins(Deed.MOVE_POINTS, f"member:{member}", country=country, **details)
        ask = Ask(key, member, reward, quantity, points, counter.at.actor.agent)
        try:
            found = await counter.redemptions.redeem(ask, standings)
        except Locked as lock:
            raise Refused(f"{member} cannot have {reward} ({lock}); nothing is taken") from None
        document = redemption_facts(found, counter.at.clock.now())
        codes, unread = await _codes(counter, found)
    document |= {"codes": codes}
    said = f"redemption {found.redemption_id}: {found.reward}@{found.version} for {member} is {document['status']}"
    money = f" and {document['money']} in money" if found.money else ""
    return Answer(document, f"{said}, for {found.points} points{money}", *(f"code: {each}" for each in codes), *unread)


async def _country(counter: RewardCounter, name: str, key: str) -> str:
    """Of the reward in force, or of what was redeemed under the key before. Raises `Absent`."""
    found = counter.redemptions.reward(name) or await counter.redemptions.of_key(key)
    if found is None:
        raise absent("reward in force", name, "`abacus rewards available --member ID` lists what a member can have")
    return found.country


async def _codes(counter: RewardCounter, found: Redemption) -> tuple[list[str], list[str]]:
    """The codes, or the sentence that they cannot be read here: the points are paid, so that is no failure."""
    try:
        return list(await counter.redemptions.codes(found)), []
    except SecretUnreadable as fault:
        return [], [f"its codes cannot be read here: {fault}"]


def _against(told: dict[str, Any]) -> str:
    return "; ".join(f"{each['reason']}: {each['detail']}" for each in told["locks"]) or "-"
