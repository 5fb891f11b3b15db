"""`abacus people`, as an operator meets it: the first admin, tokens and their ends, rights by country, the log."""

from collections.abc import Awaitable, Callable

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran
from tests.support.commands import abacus as run
from tests.support.logged import card_logged
from tests.support.staff import LOGIN, hire

pytestmark = pytest.mark.once

Abacus = Callable[..., Awaitable[Ran]]


@pytest.fixture
def abacus(database_url: str) -> Abacus:
    async def call(*words: str, token: str | None = None, **settings: str) -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, **settings}
        return await run(*words, env=env | ({"ABACUS_TOKEN": token} if token else {}))

    return call


async def admin(abacus: Abacus) -> str:
    """The first admin's token."""
    assert (await abacus("people", "create", "ann", "--role", "admin")).code == 0
    return str((await abacus("people", "token", "ann", "--json")).json["token"])


async def test_the_first_admin_is_made_by_a_login_and_the_next_by_an_admin(abacus: Abacus) -> None:
    token = await admin(abacus)
    assert token.startswith("abp_")
    refused = await abacus("people", "create", "eve", "--role", "admin")
    assert (refused.code, "is a login and no person: to manage people takes the token of a person" in refused.err) == (
        2,
        True,
    )
    assert (await abacus("people", "token", "ann")).code == 2
    created = await abacus("people", "create", "ben", "--role", "support:SG", "--role", "viewer", token=token)
    assert created.out.startswith("ben is viewer, support:SG; ")
    again = await abacus("people", "create", "ben", "--role", "viewer", token=token)
    assert (again.code, again.err.strip()) == (2, "abacus: there is a person 'ben' already")
    listed = (await abacus("people", "list", "--json")).json
    assert [(each["person_id"], each["grants"], each["created_by"]) for each in listed] == [
        ("ann", ["admin"], LOGIN),
        ("ben", ["viewer", "support:SG"], "person:ann"),
    ]


@pytest.mark.long
async def test_an_admin_does_not_approve_by_a_person_that_it_made(abacus: Abacus, pool: Pool) -> None:
    """The approver that a login enters before the admin has a token is independent of the admin."""
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    await abacus("people", "create", "ann", "--role", "admin")
    await abacus("people", "create", "cat", "--role", "approver")
    cat = str((await abacus("people", "token", "cat", "--json")).json["token"])
    ann = str((await abacus("people", "token", "ann", "--json")).json["token"])
    await abacus("people", "create", "ben", "--role", "approver", token=ann)
    ben = str((await abacus("people", "token", "ben", "--json", token=ann)).json["token"])
    large = ("adjustments", "add", "bob", "20000", "--reason", "Sorry", "--country", "SG", "--new-member", "--json")
    request = (await abacus(*large, token=ann)).json["approval"]
    approve = ("approvals", "approve", request["approval_id"])
    seen = ("--digest", request["digest"])
    for words in (approve, (*approve, *seen)):
        refused = await abacus(*words, token=ben)
        assert refused.code == 2
        assert refused.err.startswith(
            "abacus: person:ben is not independent of person:ann: person:ann entered person:ben"
        )
        assert "until then it takes an approver to whom person:ann gave no access in the last 30 days" in refused.err
    assert (await abacus(*approve, *seen, token=cat)).out.startswith("done: adjust +20,000")
    log = (await abacus("people", "log", "--deed", "manage-people", "--json")).json
    assert {each["subject"]: each["actor"] for each in log} == {
        "person:ann": LOGIN,
        "person:cat": LOGIN,
        "person:ben": "person:ann",
    }


async def test_look_alikes_are_refused(abacus: Abacus) -> None:
    for name in ("ann\u200b", "\u0430nn", "\uff41nn", "Ann"):
        ran = await abacus("people", "create", name, "--role", "admin")
        assert (ran.code, "is not allowed" in ran.err) == (2, True), name
    assert (await abacus("people", "list", "--json")).json == []


async def test_a_token_ends_when_it_is_revoked_when_its_time_is_over_and_with_its_person(
    abacus: Abacus, pool: Pool
) -> None:
    ann = await admin(abacus)
    ben = await hire(pool, "ben", "support")
    assert (await abacus("people", "whoami", token=ben)).out.strip() == "ben: support"
    assert (await abacus("people", "disable", "ben", token=ann)).code == 0
    ran = await abacus("people", "whoami", token=ben)
    assert (ran.code, ran.err.startswith("abacus: ABACUS_TOKEN: ben is disabled since ")) == (2, True)
    assert (await abacus("people", "enable", "ben", token=ann)).code == 0
    assert (await abacus("people", "whoami", token=ben)).code == 0
    assert (await abacus("people", "revoke", "ann", token=ben)).code == 2
    assert (await abacus("people", "revoke", "ben", token=ben)).out.strip() == f"revoked: {ben[:16]}"
    ran = await abacus("people", "whoami", token=ben)
    assert ran.err.startswith("abacus: ABACUS_TOKEN: the token of ben was revoked on ")
    cat = await hire(pool, "cat", "support")
    for wrong in (cat[:-1] + ("a" if cat[-1] != "a" else "b"), "abk_live_" + "a" * 55, "hello"):
        ran = await abacus("people", "whoami", token=wrong)
        assert ran.err.strip() == "abacus: ABACUS_TOKEN: the token is not one that a person here has"
        assert wrong not in ran.err


async def test_the_last_admin_stays(abacus: Abacus) -> None:
    ann = await admin(abacus)
    for words in (["disable", "ann"], ["roles", "ann", "--role", "viewer"], ["revoke", "ann"]):
        ran = await abacus("people", *words, token=ann)
        assert (ran.code, "no admin with a valid token would be left" in ran.err) == (2, True)
    assert (await abacus("people", "whoami", token=ann)).out.strip() == "ann: admin"


async def test_a_person_renews_its_own_token_and_nobody_elses(abacus: Abacus, pool: Pool) -> None:
    await admin(abacus)
    ben = await hire(pool, "ben", "support")
    fresh = (await abacus("people", "token", "ben", "--days", "30", "--json", token=ben)).json
    assert (await abacus("people", "whoami", token=fresh["token"])).code == 0
    assert (await abacus("people", "token", "ann", token=ben)).code == 2
    assert (await abacus("people", "token", "ben", "--days", "367", token=ben)).code == 2


async def test_a_token_is_kept_as_a_digest_and_its_use_is_noted(abacus: Abacus, pool: Pool) -> None:
    token = await admin(abacus)
    assert await pool.fetchval("select last_used_at from person_token") is None
    await abacus("people", "whoami", token=token)
    (row,) = await pool.fetch("select * from person_token")
    assert token not in str(dict(row))
    assert row["last_used_at"] is not None


async def test_roles_hold_in_their_country_alone(abacus: Abacus, pool: Pool) -> None:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
    await admin(abacus)
    ben = await hire(pool, "ben", "support:SG")
    words = ("adjustments", "add", "bob", "5", "--reason", "Sorry")
    assert (await abacus(*words, "--country", "SG", "--new-member", token=ben)).code == 0
    ran = await abacus(*words, "--country", "ID", token=ben)
    assert (ran.code, ran.err.strip()) == (
        2,
        "abacus: ben may not adjust in ID; that takes the role support or admin",
    )
    partner = await abacus("partners", "create", "acme", token=ben)
    assert partner.err.strip() == (
        "abacus: ben may not edit partners in all countries; that takes the role operator or admin"
    )
    assert await pool.fetchval("select count(*) from partner") == 0


async def test_where_people_are_required_a_login_changes_nothing(abacus: Abacus, pool: Pool) -> None:
    ran = await abacus("partners", "create", "acme", ABACUS_PEOPLE_REQUIRED="true")
    assert (ran.code, "is a login and no person" in ran.err) == (2, True)
    token = await hire(pool, "ben", "operator")
    assert (await abacus("partners", "create", "acme", token=token, ABACUS_PEOPLE_REQUIRED="true")).code == 0


async def test_the_log_says_who_did_what(abacus: Abacus, pool: Pool) -> None:
    ann = await admin(abacus)
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    await abacus("partners", "create", "acme", "--sign", token=ann)
    await abacus("partners", "limit", "acme", "--budget-total", "500", token=ann)
    words = ("adjustments", "add", "bob", "5", "--reason", "Sorry", "--country", "SG", "--new-member", "--key", "k")
    await abacus(*words, token=ann)
    await abacus("tiers", "set", "bob", "gold", "--program", "GRP", "--reason", "a wedding")
    log = (await abacus("people", "log", "--json")).json
    assert [(each["actor"], each["authenticated"], each["deed"], each["subject"]) for each in reversed(log)] == [
        (LOGIN, False, "manage-people", "person:ann"),
        (LOGIN, False, "manage-people", "person:ann"),
        ("person:ann", True, "edit-partners", "partner:acme"),
        ("person:ann", True, "edit-limits", "partner:acme"),
        ("person:ann", True, "adjust", "member:bob"),
        (LOGIN, False, "set-tiers", "member:bob"),
    ]
    said = {each["deed"]: each["details"] for each in log}
    assert said["edit-limits"]["after"]["in_total"] == 500
    assert said["adjust"] == {"kind": "adjust", "points": 5, "program": "GRP", "key": "adjust:k", "alone": 10_000}
    assert [each["country"] for each in log[:2]] == ["SG", "SG"]
    assert "abs_" not in str(log)
    only = (await abacus("people", "log", "--actor", "person:ann", "--deed", "adjust", "--json")).json
    assert len(only) == 1
    assert (await abacus("people", "log", "--subject", "member:eve", "--json")).json == []
    assert "member:bob" in (await abacus("people", "log")).out


async def test_what_is_refused_is_not_logged(abacus: Abacus, pool: Pool) -> None:
    await abacus("partners", "create", "acme")
    before = len((await abacus("people", "log", "--json")).json)
    assert (await abacus("partners", "create", "acme")).code == 2
    assert len((await abacus("people", "log", "--json")).json) == before
