"""What people do with campaigns, by the time of the database."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.approving.executors import approving
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.documents.decide.states import Act
from abacus.engage.campaigns.decide.campaign_reader import CampaignFaults
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.notify.renderer import rendering
from abacus.ledger.types.limits import Alone
from abacus.ledger.types.movement import Moved, Movement
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Actor
from abacus.platform.database_clock import clock_of
from abacus.platform.postgres import nothing_else
from abacus.signals.events.decide.builtin import built_in
from tests.support.house import House
from tests.support.staff import ADMIN
from tests.support.wrong_clock import Wrong, is_right

pytestmark = pytest.mark.once

ANN = Actor("ann", parse_grants(["country_editor:SG"]))
EVE = Actor("eve", parse_grants(["approver:SG"]))


@pytest.fixture(params=[timedelta(days=12), -timedelta(days=12)], ids=["slow", "fast"])
async def desk_and_approvals(
    request: pytest.FixtureRequest, house: House
) -> AsyncIterator[tuple[CampaignDesk, Approvals]]:
    """Those of a process whose computer has a wrong clock."""
    clock, config = await clock_of(house.pool, Wrong(request.param)), house.settings
    sources = built_in(
        transactions_topic=config.transactions_topic, points_topic=config.points_topic, tiers_topic=config.tiers_topic
    )
    people = PeopleStore(house.pool, SystemClock())
    for actor in (ANN, EVE):
        await people.create(actor.name, actor.grants or (), by=ADMIN, also=nothing_else)

    async def nobody_moves(_: Movement) -> Moved:
        raise Refused("nobody moves points here")

    approvals = approving(house.pool, clock, nobody_moves, Alone(0, 0), sources).approvals
    async with rendering() as renderer:
        yield CampaignDesk(house.pool, clock, sources, approvals, renderer), approvals


def market(ends_in: timedelta) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "name": "market",
        "country": "SG",
        "timezone": "Asia/Singapore",
        "starts_at": (now - timedelta(days=30)).isoformat(),
        "ends_at": (now + ends_in).isoformat(),
        "on": ["transaction.completed"],
        "steps": [{"do": [{"tell": {"en": "Hi\nYou paid {{ event.amount }}."}}]}],
        "limits": {"unlimited": True},
    }


async def test_a_campaign_answers_to_nothing_before_it_was_approved(
    desk_and_approvals: tuple[CampaignDesk, Approvals],
) -> None:
    desk, approvals = desk_and_approvals
    _, asked = await desk.propose(await desk.read(market(timedelta(days=6))), ANN)
    await approvals.approve(asked.approval_id, EVE, asked.digest)
    (record,) = await desk.history("market")
    assert record.approved_at is not None
    assert is_right(record.approved_at)
    assert is_right(record.document.approved_at)
    assert record.state(desk.now()) == "running"
    assert (await desk.move(record.document, Act.PAUSE, "lunch", ANN)).status == "paused"


async def test_what_is_over_cannot_be_drafted(desk_and_approvals: tuple[CampaignDesk, Approvals]) -> None:
    desk, _ = desk_and_approvals
    with pytest.raises(CampaignFaults, match="ends_at: is over already"):
        await desk.read(market(-timedelta(days=6)))
