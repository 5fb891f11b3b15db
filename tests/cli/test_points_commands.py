"""`abacus points` and `abacus adjustments`, as an operator meets them."""

import orjson
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award import Award
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.ledger.ledgers import award
from tests.support.commands import abacus


@pytest.fixture
async def env(pool: Pool, database_url: str) -> dict[str, str]:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    gifts = [_gift("txn:rides:T-1", 180), _gift("txn:rides:T-2", 20)]
    await PostgresLedger(pool, SystemClock()).post(gifts)
    return {"ABACUS_DATABASE_URL": database_url, "ABACUS_ADJUSTMENT_LIMIT": "100"}


def _gift(key: str, points: int) -> Award:
    explanation = {"granted_by": "acme", "reason": "Hi", "card": "SG@1", "points": points}
    return award(key=key, points=points, explanation=orjson.dumps(explanation))


async def test_points_are_spent_held_and_taken_back(env: dict[str, str]) -> None:
    spent = await abacus("points", "spend", "bob", "150", "--key", "s-1", "--by", "ann", "--json", env=env)
    assert (spent.json["points"], spent.json["balance"], spent.json["replayed"]) == (-150, 50, False)
    again = await abacus("points", "spend", "bob", "150", "--key", "s-1", "--by", "ann", "--json", env=env)
    assert (again.json["id"], again.json["replayed"]) == (spent.json["id"], True)
    too_much = await abacus("points", "spend", "bob", "51", env=env)
    assert (too_much.code, too_much.err.strip()) == (2, "abacus: 51 points; 50 of 50 are available")
    lots = (await abacus("points", "lots", "bob", "--json", env=env)).json["lots"]
    assert [(lot["key"], lot["remaining"]) for lot in lots] == [("txn:rides:T-1", 30), ("txn:rides:T-2", 20)]
    held = (await abacus("points", "hold", "bob", "40", "--by", "ann", "--json", env=env)).json
    hold_id = held["explanation"]["hold"]
    assert hold_id in (await abacus("points", "holds", "bob", "--json", env=env)).out
    captured = (await abacus("points", "capture", "bob", hold_id, "--points", "10", "--json", env=env)).json
    assert (captured["kind"], captured["balance"]) == ("spend", 40)
    closed = await abacus("points", "release", "bob", hold_id, env=env)
    assert (closed.code, closed.err.strip()) == (2, "abacus: the hold is captured")
    back = await abacus("points", "reverse", "ops:s-1", "--points", "50", "--reason", "One returned", env=env)
    assert back.out.startswith("reverse +50 GRP for bob: balance 90")
    explained = (await abacus("explain", "ops:s-1", env=env)).out
    assert "spent by ann" in explained
    assert "recomputed now: same" in explained
    assert (await abacus("ledger", "verify", env=env)).code == 0


async def test_an_adjustment_takes_two_people_when_it_is_large(env: dict[str, str]) -> None:
    small = await abacus("adjustments", "add", "bob", "-50", "--reason", "Twice", "--by", "ann", env=env)
    assert small.out.startswith("adjust -50 GRP for bob: balance 150")
    large = ("adjustments", "add", "bob", "500", "--reason", "Sorry", "--by", "ann", "--key", "a-1", "--json")
    (pending,) = (await abacus(*large, env=env)).json["adjustments"]
    assert (pending["status"], pending["points"]) == ("pending", 500)
    assert (await abacus(*large, env=env)).json["adjustments"] == [pending]
    id_ = pending["adjustment_id"]
    own = await abacus("adjustments", "approve", id_, "--by", "Ann", env=env)
    assert (own.code, own.err.strip()) == (2, "abacus: ann asked for it; somebody else has to approve it")
    approved = await abacus("adjustments", "approve", id_, "--by", "ben", env=env)
    assert approved.out.startswith("adjust +500 GRP for bob: balance 650")
    (listed,) = (await abacus("adjustments", "list", "--json", env=env)).json["adjustments"]
    assert (listed["status"], listed["decided_by"]) == ("posted", "ben")
    assert "approved by ben" in (await abacus("explain", "adjust:a-1", env=env)).out
    assert (await abacus("ledger", "verify", env=env)).code == 0
