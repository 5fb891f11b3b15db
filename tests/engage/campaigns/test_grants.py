"""Deeds that grant offers and rewards: each once, and what never can be granted ends with its reason."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import orjson
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.engage.actions.action_store import ActionStore, plan
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import INVITATIONS, REDEMPTIONS, PlannedAction, Refusals
from abacus.engage.campaigns.granted import grants_under
from abacus.engage.offers.gifts import invited_to, to_invitations
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.rewards.directory import RewardDirectory
from abacus.engage.rewards.grants import RewardGrants
from abacus.engage.rewards.reward_store import RewardStore
from abacus.oversight.reconcile.grants import compared_grants
from abacus.platform import slices
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.store.cards import CardStore
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import Counter, load_codes, reward, run_reward

CLOCK: Final = SystemClock()


def key_of(member: str) -> str:
    """Of the step of the campaign for an event of the member."""
    return f"campaign:gifts:app:lunch:{member}:1"


KEY: Final = key_of("bob")
INVITED: Final[Mapping[str, Any]] = {**LUNCH, "name": "lunch_invited", "audience": "invitation"}


@pytest.fixture
async def counter(pool: Pool) -> Counter:
    """A place where rewards are redeemed, in a house with a card and two codes."""
    singapore = next(card for card in example_cards() if card.scope == "SG")
    await CardStore(pool).publish(singapore, by="tests", now=CLOCK.now())
    await load_codes(pool, ["A", "B"])
    return Counter(pool, [reward(limits={"uses": {"overall": 1}})])


async def planned(pool: Pool, member: str, receiver: str, document: Mapping[str, str], number: int = 0) -> None:
    now, key = CLOCK.now(), key_of(member)
    action = PlannedAction(
        member,
        key,
        number,
        "campaign",
        "gifts",
        1,
        1,
        None,
        DeedKind.GRANT,
        receiver,
        now,
        orjson.dumps(document),
        None,
    )
    async with slices.at(pool, member) as connection:
        await connection.execute(
            "insert into campaign_claim values ($1, $2, 'gifts', 1, $3) on conflict do nothing",
            key.rpartition(":")[0],
            member,
            now,
        )
        await plan(connection, [action], now)


async def handed_over(pool: Pool, receiver: str, handover: Any, *, ends: bool = True) -> Sequence[str]:
    """Hands over what is due, and returns the reasons of what is refused. A process that dies ends nothing."""
    actions, told = ActionStore(pool, CLOCK), list[str]()
    for slice_ in await slices.slices_of(pool):
        async with actions.taken(slice_, receiver, 10) as batch:
            told_of: Refusals = await handover(batch, batch.actions)
            refused = told_of.against
            told += [*refused.values(), *("later" for _ in told_of.unknown)]
            if ends:
                done = [each for each in batch.actions if each not in refused and each not in told_of.unknown]
                await actions.end(batch, done, refused)
    return told


async def grants_of(pool: Pool, at: Counter) -> RewardGrants:
    directory = RewardDirectory(pool, CLOCK)
    await directory.refresh()
    return RewardGrants(at.redeemer, directory, RewardStore(pool), at.book, CLOCK)


async def compared(pool: Pool) -> list[tuple[str, int, int]]:
    day, now = timedelta(days=1), CLOCK.now()
    async with snapshot(pool) as connection:
        found = await compared_grants(connection, "campaign", now - day, now + day)
    return [(each.what, each.counted, each.other) for each in found]


async def test_a_member_is_invited_once_and_stays_invited(pool: Pool) -> None:
    await run_offers(pool, INVITED)
    await planned(pool, "bob", INVITATIONS, {"offer": "lunch_invited"})
    await InvitationStore(pool).add(7, ["bob"])
    handover = to_invitations(pool, CLOCK)
    assert await handed_over(pool, INVITATIONS, handover, ends=False) == []
    await InvitationStore(pool).remove(1, ["bob"])
    assert await handed_over(pool, INVITATIONS, handover) == []
    assert await invited_to(pool, "bob") == {7}, "it was given before"
    await planned(pool, "bob", INVITATIONS, {"offer": "lunch_invited"}, number=1)
    assert await handed_over(pool, INVITATIONS, handover) == []
    assert await invited_to(pool, "bob") == {1, 7}
    assert await compared(pool) == [("offers granted by campaigns", 2, 2)]
    for slice_ in await slices.slices_of(pool):
        async with slice_.at() as connection:
            await connection.execute("delete from offer_gift where key like '%/1'")
    assert await compared(pool) == [("offers granted by campaigns", 2, 1)]


@pytest.mark.parametrize(
    ("offer", "why"),
    [
        ("lunch_20", "lunch_20 is not by invitation: its audience is public"),
        ("over", "the offer over is not in force"),
        ("nobodys", "the offer nobodys is not in force"),
    ],
)
async def test_an_offer_that_cannot_be_granted_is_told(pool: Pool, offer: str, why: str) -> None:
    await run_offers(pool, LUNCH, {**INVITED, "name": "over"})
    await pool.execute("update offer set status = 'ended' where name = 'over'")
    await planned(pool, "bob", INVITATIONS, {"offer": offer})
    assert await handed_over(pool, INVITATIONS, to_invitations(pool, CLOCK)) == [why]
    assert await invited_to(pool, "bob") == set()


async def test_a_reward_is_given_once_without_points(pool: Pool, counter: Counter) -> None:
    await run_reward(pool, limits={"uses": {"overall": 1}})
    at, grants = counter, await grants_of(pool, counter)
    await planned(pool, "bob", REDEMPTIONS, {"reward": "coffee"})
    await planned(pool, "eve", REDEMPTIONS, {"reward": "tea"})
    for ends in (False, True):
        told = await handed_over(pool, REDEMPTIONS, grants.hand_over, ends=ends)
        assert told == ["the reward tea is not in force"]
    (given,) = await at.desk.of_member("bob", 10)
    (told_of,) = await grants_under(pool, KEY)
    assert (told_of.key, told_of.granted, told_of.came.split()[0]) == (f"{KEY}/0", "the reward coffee", "granted")
    assert (given.stage, given.points, given.campaign, given.key) == ("given", 0, "gifts", f"{KEY}/0")
    assert await at.desk.codes(given) == ["A"]
    await planned(pool, "bob", REDEMPTIONS, {"reward": "coffee"}, number=1)
    assert await handed_over(pool, REDEMPTIONS, grants.hand_over) == ["coffee: 1 of 1 pieces are gone"]
    assert [each.stage for each in await at.desk.of_member("bob", 10)] == ["refused", "given"]
    assert await compared(pool) == [("rewards granted by campaigns", 1, 1)]
    assert (await at.desk.bring_back(given)).stage == "returned"


async def test_a_reward_of_a_journey_is_not_of_a_campaign(pool: Pool, counter: Counter) -> None:
    await run_reward(pool)
    grants, now, key = await grants_of(pool, counter), CLOCK.now(), "journey:welcome:1:bob:3"
    owner, document = ("journey", "welcome", 1, 3, None), orjson.dumps({"reward": "coffee"})
    action = PlannedAction("bob", key, 0, *owner, DeedKind.GRANT, REDEMPTIONS, now, document, None)
    async with slices.at(pool, "bob") as connection:
        await plan(connection, [action], now)
    assert await handed_over(pool, REDEMPTIONS, grants.hand_over) == []
    (given,) = await counter.desk.of_member("bob", 10)
    assert (given.stage, given.source, given.campaign) == ("given", "journey:welcome", None)


async def test_a_reward_that_is_in_force_since_a_moment_is_granted(pool: Pool, counter: Counter) -> None:
    at, grants = counter, await grants_of(pool, counter)
    await run_reward(pool)
    await planned(pool, "bob", REDEMPTIONS, {"reward": "coffee"})
    assert await handed_over(pool, REDEMPTIONS, grants.hand_over) == []
    assert [each.stage for each in await at.desk.of_member("bob", 10)] == ["given"]


async def test_a_deed_waits_while_its_reward_is_paused(pool: Pool, counter: Counter) -> None:
    await run_reward(pool)
    grants = await grants_of(pool, counter)
    await planned(pool, "bob", REDEMPTIONS, {"reward": "coffee"})
    await pool.execute("update reward set status = 'paused'")
    assert await handed_over(pool, REDEMPTIONS, grants.hand_over) == ["later"]
    await pool.execute("update reward set status = 'ended'")
    assert await handed_over(pool, REDEMPTIONS, (await grants_of(pool, counter)).hand_over) == [
        "the reward coffee is not in force"
    ]
    assert await counter.desk.of_member("bob", 10) == []
