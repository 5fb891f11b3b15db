"""`abacus points` and `abacus adjustments`, as an operator meets them."""

import orjson
import pytest

from abacus.cli.examples import example_cards
from abacus.cli.terminal.command_actor import login
from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.ledger.ledgers import award
from tests.support.commands import abacus
from tests.support.logged import card_logged
from tests.support.staff import hire


@pytest.fixture
async def env(pool: Pool, database_url: str) -> dict[str, str]:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
    gifts = [_gift("txn:rides:T-1", 180), _gift("txn:rides:T-2", 20)]
    await PostgresLedger(pool, SystemClock()).post(gifts)
    return {"ABACUS_DATABASE_URL": database_url, "ABACUS_ADJUSTMENT_LIMIT": "100"}


def _gift(key: str, points: int) -> Award:
    explanation = {"granted_by": "acme", "reason": "Hi", "card": "SG@1", "points": points}
    return award(key=key, points=points, explanation=orjson.dumps(explanation))


async def test_points_are_spent_held_and_taken_back(env: dict[str, str]) -> None:
    spent = await abacus("points", "spend", "bob", "150", "--key", "s-1", "--json", env=env)
    assert (spent.json["points"], spent.json["balance"], spent.json["replayed"]) == (-150, 50, False)
    again = await abacus("points", "spend", "bob", "150", "--key", "s-1", "--json", env=env)
    assert (again.json["id"], again.json["replayed"]) == (spent.json["id"], True)
    other = await abacus("points", "spend", "bob", "151", "--key", "s-1", env=env)
    assert (other.code, other.err) == (
        2,
        "abacus: the key ops:s-1 was used for other facts: points was 150, now it is 151\n",
    )
    too_much = await abacus("points", "spend", "bob", "51", env=env)
    assert (too_much.code, too_much.err.strip()) == (2, "abacus: 51 points; 50 of 50 are available")
    lots = (await abacus("points", "lots", "bob", "--json", env=env)).json["lots"]
    assert [(lot["key"], lot["remaining"]) for lot in lots] == [("txn:rides:T-1", 30), ("txn:rides:T-2", 20)]
    held = (await abacus("points", "hold", "bob", "40", "--json", env=env)).json
    hold_id = held["explanation"]["hold"]
    assert hold_id in (await abacus("points", "holds", "bob", "--json", env=env)).out
    captured = (await abacus("points", "capture", "bob", hold_id, "--points", "10", "--json", env=env)).json
    assert (captured["kind"], captured["balance"]) == ("spend", 40)
    closed = await abacus("points", "release", "bob", hold_id, env=env)
    assert (closed.code, closed.err.strip()) == (2, "abacus: the hold is captured")
    back = await abacus("points", "reverse", "ops:s-1", "--points", "50", "--reason", "One returned", env=env)
    assert back.out.startswith("reverse +50 GRP for bob: balance 90")
    explained = (await abacus("explain", "ops:s-1", env=env)).out
    assert f"spent by {login()}" in explained
    assert "recomputed now: same" in explained
    assert (await abacus("ledger", "verify", env=env)).code == 0
    assert (await abacus("points", "holds", "bob", "--json", env=env)).json["holds"] == []
    for words, line in (
        (("lots", "nobody"), "there is no account of 'nobody'"),
        (("holds", "nobody"), "there is no account of 'nobody'"),
        (("lots", "bob", "--program", "OVO"), "there is no account of OVO of 'bob'"),
    ):
        ran = await abacus("points", *words, "--json", env=env)
        assert (ran.code, ran.out, ran.err.strip()) == (1, "", f"abacus: {line}")


async def test_points_pay_at_a_till(env: dict[str, str]) -> None:
    quoted = (await abacus("points", "quote", "bob", "--money", "1.009", "--json", env=env)).json
    assert (quoted["points"], quoted["money"], quoted["currency"], quoted["available"]) == (100, "1.00", "SGD", 200)
    told = await abacus("points", "quote", "bob", env=env)
    assert told.out == "200 GRP of bob pay 2.00 SGD, by card SG@1; 200 are available\n"
    spend = ("points", "spend", "bob", "100", "--price", "2.50", "--key", "t-1")
    other = await abacus(*spend, "--money", "1.10", env=env)
    assert (other.code, other.err) == (2, "abacus: 100 points pay 1.00 by SG@1, not 1.10\n")
    paid = (await abacus(*spend, "--money", "1.00", "--json", env=env)).json
    assert (paid["explanation"]["money"], paid["explanation"]["price"]) == ("1.00", "2.50")
    back = (await abacus("points", "reverse", "ops:t-1", "--amount", "2.50", "--json", env=env)).json
    assert (back["points"], back["explanation"]["money"], back["balance"]) == (100, "1.50", 200)
    both = await abacus("points", "reverse", "ops:t-1", "--amount", "1", "--points", "1", env=env)
    assert (both.code, both.err) == (2, "abacus: name points or an amount, and the other follows\n")


async def test_a_typing_mistake_opens_no_account(env: dict[str, str], pool: Pool) -> None:
    add = ("adjustments", "add", "eev", "5", "--reason", "Sorry", "--country", "SG")
    mistyped = await abacus(*add, env=env)
    assert (mistyped.code, mistyped.err) == (
        1,
        "abacus: there is no account of 'eev'; if the id is right and the member is new, say --new-member\n",
    )
    assert await pool.fetchval("select count(*) from account where member_id = 'eev'") == 0
    added = await abacus(*add, "--new-member", env=env)
    assert (added.code, added.out.split(",")[0]) == (0, "adjust +5 GRP for eev: balance 5")
    assert (await abacus(*add, "--new-member", env=env)).code == 0


@pytest.mark.long
async def test_an_adjustment_takes_two_people_when_it_is_large(env: dict[str, str], pool: Pool) -> None:
    ann = env | {"ABACUS_TOKEN": await hire(pool, "ann", "support:SG", "approver")}
    ben = env | {"ABACUS_TOKEN": await hire(pool, "ben", "approver")}
    small = await abacus("adjustments", "add", "bob", "-50", "--reason", "Twice", env=ann)
    assert small.out.startswith("adjust -50 GRP for bob: balance 150")
    large = ("adjustments", "add", "bob", "500", "--reason", "Sorry", "--key", "a-1", "--json")
    request = (await abacus(*large, env=ann)).json["approval"]
    assert (request["status"], request["document"]["points"], request["asked_by"]) == ("pending", 500, "person:ann")
    assert (await abacus(*large, env=ann)).json["approval"] == request
    reused = await abacus("adjustments", "add", "bob", "501", "--reason", "Sorry", "--key", "a-1", env=ann)
    assert (reused.code, reused.err) == (
        2,
        "abacus: the key adjust:a-1 was used for other facts: points was 500, now it is 501\n",
    )
    id_, seen = request["approval_id"], ("--digest", request["digest"][:8])
    shown = (await abacus("approvals", "show", id_, env=ben)).out
    assert "adjust +500 GRP of bob in SG: Sorry" in shown
    assert f"digest {request['digest']}" in shown
    for who, words, why in (
        (ann, seen, "ann asked for it; somebody else has to approve it"),
        (env, seen, f"{login()} is a login and no person: to approve takes the token of a person in ABACUS_TOKEN"),
        (ben, (), "nobody can be asked here; --digest names what you looked at with `abacus approvals show`"),
        (ben, ("--digest", "00000000"), f"this is {request['digest'][:16]}, not 00000000: look at it again"),
    ):
        refused = await abacus("approvals", "approve", id_, *words, env=who)
        assert (refused.code, refused.err.strip()) == (2, f"abacus: {why}")
    approved = await abacus("approvals", "approve", id_, *seen, env=ben)
    assert approved.out.strip() == "done: adjust +500 GRP of bob in SG: Sorry"
    (listed,) = (await abacus("approvals", "list", "--json", env=env)).json["approvals"]
    assert (listed["status"], listed["decided_by"]) == ("done", "person:ben")
    assert "adjusted by ann, approved by ben: Sorry" in (await abacus("explain", "adjust:a-1", env=env)).out
    assert (await abacus("ledger", "verify", env=env)).code == 0


async def test_many_small_adjustments_take_two_people(env: dict[str, str], pool: Pool) -> None:
    env = env | {"ABACUS_ALONE_ACTOR_DAY": "150"}
    ann = env | {"ABACUS_TOKEN": await hire(pool, "ann", "support:SG")}
    add = ("adjustments", "add", "bob", "100", "--reason", "Sorry")
    assert (await abacus(*add, env=ann)).out.startswith("adjust +100 GRP for bob: balance 300")
    request = (await abacus(*add, "--json", env=ann)).json["approval"]
    assert request["status"] == "pending"
    assert "ann moved 100 alone today, and more than 150 take a second person" in request["summary"]
    assert (await abacus(*add, env=env)).out.startswith("adjust +100 GRP for bob: balance 400")
    nobody = await abacus(*add, env=env | {"LOGNAME": "eve", "USER": "eve"})  # a name that a login gives itself
    assert nobody.code == 2
    assert nobody.err.startswith("abacus: 100 points; logins moved 100 alone today, and more than 150 take a second")
    assert await pool.fetchval("select balance from account") == 400


async def test_what_was_asked_for_is_rejected_or_withdrawn(env: dict[str, str], pool: Pool) -> None:
    ben = env | {"ABACUS_TOKEN": await hire(pool, "ben", "approver")}
    cat, ann = [env | {"ABACUS_TOKEN": await hire(pool, name, "support")} for name in ("cat", "ann")]
    for who, outcome in ((cat, 2), (ben, 0), (ann, 0)):
        request = (await abacus("adjustments", "add", "bob", "500", "--reason", "Sorry", "--json", env=ann)).json
        ran = await abacus("approvals", "reject", request["approval"]["approval_id"], "--reason", "no", env=who)
        assert ran.code == outcome, ran.err
    statuses = [each["status"] for each in (await abacus("approvals", "list", "--json", env=env)).json["approvals"]]
    assert sorted(statuses) == ["pending", "rejected", "rejected"]
    assert await pool.fetchval("select balance from account") == 200


@pytest.mark.long
async def test_much_is_not_taken_back_by_one_alone(env: dict[str, str], pool: Pool) -> None:
    env = env | {"ABACUS_REVERSAL_LIMIT": "50"}
    ann = env | {"ABACUS_TOKEN": await hire(pool, "ann", "support")}
    ben = env | {"ABACUS_TOKEN": await hire(pool, "ben", "approver")}
    nobody = await abacus("points", "reverse", "txn:rides:T-1", "--key", "r-1", env=env)
    assert nobody.code == 2
    assert "is a login and no person" in nobody.err
    request = (await abacus("points", "reverse", "txn:rides:T-1", "--key", "r-1", "--json", env=ann)).json["approval"]
    assert (request["kind"], request["document"]["part"]) == ("reversal", 180)
    small = await abacus("points", "reverse", "txn:rides:T-2", env=env)
    assert small.out.startswith("reverse -20 GRP for bob: balance 180")
    done = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], env=ben)
    assert done.out.startswith("done: take back 180 GRP of bob in SG, of txn:rides:T-1: reversed")
    again = await abacus("points", "reverse", "txn:rides:T-1", "--key", "r-1", env=ann)
    assert again.out.strip().endswith("(done before)")
    explained = await abacus("explain", "ops:r-1", env=env)
    assert "by ann, approved by ben: reversed" in explained.out
    assert (await abacus("ledger", "verify", env=env)).code == 0
