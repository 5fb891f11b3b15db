"""Who changes or ends an offer or a reward is told on the command line which campaigns grant it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from abacus.cli.examples import example_cards
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.pricing.store.cards import CardStore
from tests.support.commands import abacus
from tests.support.offers import LUNCH, run_offers
from tests.support.running_campaigns import Stack, run_campaign
from tests.support.staff import hire

pytestmark = pytest.mark.once


@pytest.mark.long
async def test_an_offer_that_is_compared_and_ended(pool: Pool, database_url: str, tmp_path: Path) -> None:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=datetime.now(UTC))
    invited = {**LUNCH, "scope": {"everything": True}, "audience": "invitation"}
    await run_offers(pool, invited)
    gives = {"grant": {"offer": "lunch_20"}}
    await run_campaign(Stack(Settings(), pool), name="gifts", steps=[{"do": [gives]}])
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": await hire(pool, "ann", "country_editor:SG")}
    file = tmp_path / "lunch.json"
    file.write_text(json.dumps({**invited, "audience": "public"}))
    why = "lunch_20 is not by invitation: its audience is public"
    compared = await abacus("offers", "diff", str(file), env={**env, "COLUMNS": "200"})
    assert compared.out.splitlines()[-1] == f"granted by gifts@1, and refused: {why}"
    as_json = (await abacus("offers", "diff", str(file), "--json", env=env)).json
    assert (as_json["granted_by"], as_json["refused"]) == (["gifts@1"], why)
    ended = await abacus("offers", "end", "lunch_20", "--reason", "over", env={**env, "COLUMNS": "200"})
    assert (ended.code, ended.out.splitlines()) == (
        0,
        ["lunch_20@1 is ended", "granted by gifts@1, and refused: no version of lunch_20 is in force"],
    )
