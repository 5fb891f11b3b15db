"""Which campaigns in force grant an offer or a reward, and whether what they grant is refused."""

from datetime import timedelta
from typing import Any, Final

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.granting import GrantedBy
from abacus.engage.campaigns.grantors import Grantors
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.rewards.desk import RewardDesk
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.pricing.store.cards import CardStore
from tests.support.offers import LUNCH, offer, run_offers
from tests.support.rewards import load_codes, reward, run_reward
from tests.support.running_campaigns import Stack, run_campaign

CLOCK: Final = SystemClock()
ANN: Final = Actor("ann", ())


@pytest.fixture
async def house(pool: Pool) -> Stack:
    """An offer by invitation and a reward are in force; two campaigns grant them, and a third did."""
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=CLOCK.now() - timedelta(days=1))
    await load_codes(pool, ["A"])
    await run_offers(pool, {**LUNCH, "audience": "invitation"})
    await run_reward(pool)
    stack = Stack(Settings(), pool)
    await run_campaign(stack, name="both", steps=[{"do": [{"grant": {"reward": "coffee"}}, INVITES]}])
    await run_campaign(stack, name="lunch", steps=[{"do": [INVITES]}])
    await run_campaign(stack, name="over", steps=[{"do": [INVITES]}])
    await CampaignStore(pool).move("over", None, Act.END, Change("person:ann", CLOCK.now(), "enough"))
    return stack


INVITES: Final = {"grant": {"offer": "lunch_20"}}
BOTH: Final = ["both@1", "lunch@1"]


async def end(desk: StatedDesk[Any, Any], name: str) -> None:
    await desk.move((await desk.version(name)).document, Act.END, "enough", ANN)


async def test_an_offer_until_it_is_ended(house: Stack) -> None:
    desk, grantors = OfferDesk(house.pool, CLOCK, Approvals(house.pool, CLOCK)), Grantors(house.pool)
    held = (await desk.version("lunch_20")).document
    assert await grantors.standing(held, desk) == GrantedBy(BOTH, None)
    await end(desk, "lunch_20")
    assert await grantors.standing(held, desk) == GrantedBy(BOTH, "no version of lunch_20 is in force")


async def test_a_reward_of_one_campaign(house: Stack) -> None:
    desk, grantors = RewardDesk(house.pool, CLOCK, Approvals(house.pool, CLOCK)), Grantors(house.pool)
    await end(desk, "coffee")
    found = await grantors.standing((await desk.version("coffee")).document, desk)
    assert found.words == "granted by both@1, and refused: no version of coffee is in force"
    assert found.document == {"granted_by": ["both@1"], "refused": "no version of coffee is in force"}


async def test_a_draft_that_nobody_could_be_granted(house: Stack) -> None:
    grantors, now = Grantors(house.pool), CLOCK.now()
    public, invited = offer(), offer(audience="invitation")
    assert await grantors.beside(invited, now) == GrantedBy(BOTH, None)
    assert (await grantors.beside(public, now)).refused == "lunch_20 is not by invitation: its audience is public"
    assert await grantors.beside(reward(), now) == GrantedBy(["both@1"], None)
    other = offer(name="other", audience="invitation")
    assert (await grantors.beside(other, now)).document == {"granted_by": [], "refused": None}
