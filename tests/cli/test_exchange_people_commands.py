"""Support finds exchanges, cancels, undoes and settles them by commands."""

import json

import pytest

from abacus.core.clock import SystemClock
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.heard import OtherFacts
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.exchange_house import ExchangeHouse
from tests.support.exchanges import CARDS, NOW, SKYMILES, enter_partner, run_programme
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import give_points
from tests.support.staff import hire

pytestmark = [pytest.mark.once, pytest.mark.long]


async def test_exchanges_are_found_and_decided(pool: Pool, database_url: str) -> None:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    await give_points(pool, ["bob"], 10_000)
    partner = MemoryPartner()
    programme = await run_programme(pool, {**SKYMILES, "reverses_for": "30d"})
    house = ExchangeHouse(pool, programme, partner=partner)
    await house.prefund()
    tokens = {"sue": await hire(pool, "sue", "support:SG"), "kim": await hire(pool, "kim", "support:ID")}

    async def run(*words: object, by: str = "sue") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": tokens[by]}
        return await abacus("exchanges", *map(str, words), env=env)

    done = await house.exchange(key="1")
    await house.later()
    partner.decides = lambda _: OtherFacts("900 points")
    aside = await house.exchange(key="2")
    await house.later()
    held = await house.exchange(key="3")
    found = (await run("find", "--state", "aside", "--json")).json
    assert [each["exchange_id"] for each in found] == [str(aside.exchange_id)]
    assert (await run("find", "--json", by="kim")).json == []
    referred = (await run("find", "--reference", "ref", "--json")).json
    assert [each["exchange_id"] for each in referred] == [str(done.exchange_id)]
    for words in (("cancel", held), ("reverse", done), ("settle", aside, "cancel")):
        act, exchange, *more = words
        said = (act, exchange.exchange_id, *more, "--reason", "so")
        assert (await run(*said, by="kim")).code == 2
        assert (await run(*said)).code == 0
    states = [(await house.now(each)).state for each in (held, done, aside)]
    assert states == [State.RELEASED, State.REVERSING, State.CANCELLING]
    trail = (await run("get", held.exchange_id, "--json")).json["trail"]
    assert [(each["state"], each["by"]) for each in trail][1:] == [
        ("cancelled", "person:sue"),
        ("released", "exchanger"),
    ]
    told = [json.loads(each.details) for each in await log(pool, limit=3)]
    acts = ["settle-cancel-exchange", "reverse-exchange", "cancel-exchange"]
    assert [(each["did"], each["reason"]) for each in told] == [(each, "so") for each in acts]
    assert (await run("cancel", "nothing", "--reason", "so")).code == 2
