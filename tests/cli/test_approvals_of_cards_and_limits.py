"""Rate cards and limits that take two people, where the settings say so."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.points import Multiplier
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Estimate
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.timeline import published_card
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran
from tests.support.commands import abacus as run
from tests.support.logged import card_logged
from tests.support.staff import hire

pytestmark = pytest.mark.once

Abacus = Callable[..., Awaitable[Ran]]


@pytest.fixture
def abacus(database_url: str) -> Abacus:
    settings = {
        "ABACUS_DATABASE_URL": database_url,
        "ABACUS_CARDS_NEED_APPROVAL": "true",
        "ABACUS_ASSUMPTIONS_NEED_APPROVAL": "true",
        "ABACUS_LIMITS_NEED_APPROVAL": "true",
    }

    async def call(*words: str, token: str | None = None) -> Ran:
        return await run(*words, env=settings | ({"ABACUS_TOKEN": token} if token else {}))

    return call


async def edited(pool: Pool, abacus: Abacus, tmp_path: Path, food: str) -> str:
    """A file with another card of Singapore."""
    if not await CardStore(pool).all():
        for card in example_cards():
            await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
    text = (await abacus("rates", "show", "SG", "--toml")).out
    file = tmp_path / f"sg-{food}.toml"
    file.write_text(text.replace('food = "2"', f'food = "{food}"'), encoding="utf-8")
    return str(file)


async def latest(pool: Pool) -> PublishedCard:
    return published_card((await CardStore(pool).history("SG"))[-1])


async def test_a_card_is_published_when_a_second_person_has_approved_it(
    abacus: Abacus, pool: Pool, tmp_path: Path
) -> None:
    ann, ben = await hire(pool, "ann", "country_editor:SG"), await hire(pool, "ben", "approver:SG")
    first = await abacus("rates", "publish", await edited(pool, abacus, tmp_path, "3"), "--json", token=ann)
    (waiting,) = first.json["waiting"]
    assert first.json["published"] == []
    assert waiting["approval"]["summary"].startswith("publish a card of SG: verticals.food: 2 → 3")
    assert (await latest(pool)).version == 1
    other = await abacus("rates", "publish", await edited(pool, abacus, tmp_path, "4"), "--json", token=ann)
    request = other.json["waiting"][0]["approval"]
    late = waiting["approval"]
    void = await abacus("approvals", "approve", late["approval_id"], "--digest", late["digest"], token=ben)
    assert (void.code, void.err.strip()) == (2, "abacus: it is void, by person:ann")
    own = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], token=ann)
    assert own.code == 2
    done = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], token=ben)
    assert done.code == 0, done.err
    again = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], token=ben)
    assert again.code == 0
    rows = await pool.fetch("select version, published_by from rate_card where scope = 'SG' order by version")
    assert list(map(tuple, rows)) == [(1, "tests"), (2, "person:ann")]
    card = await latest(pool)
    assert str(card.card.verticals["food"]) == "4"


async def test_a_card_that_was_published_meanwhile_is_not_published_again(
    abacus: Abacus, pool: Pool, tmp_path: Path
) -> None:
    ann, ben = await hire(pool, "ann", "country_editor:SG"), await hire(pool, "ben", "approver")
    file = await edited(pool, abacus, tmp_path, "3")
    request = (await abacus("rates", "publish", file, "--json", token=ann)).json["waiting"][0]["approval"]
    old = (await latest(pool)).card
    same = replace(old, verticals={**old.verticals, "food": Multiplier(Decimal(3))})
    await CardStore(pool).publish(same, by="tests", now=SystemClock().now())
    done = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], token=ben)
    assert (done.code, done.err.strip()) == (2, "abacus: SG@2 is this card already: nothing to publish")
    assert (await abacus("approvals", "show", request["approval_id"], "--json")).json["status"] == "void"


async def test_limits_are_raised_by_two_and_lowered_by_one(abacus: Abacus, pool: Pool) -> None:
    ann, ben = await hire(pool, "ann", "operator"), await hire(pool, "ben", "approver")
    await abacus("partners", "create", "acme", "--budget-total", "500", token=ann)

    async def total() -> int | None:
        in_total: int | None = await pool.fetchval("select in_total from allowance")
        return in_total

    assert (await abacus("partners", "limit", "acme", "--budget-total", "400", token=ann)).code == 0
    assert await total() == 400
    request = [
        (await abacus("partners", "limit", "acme", *words, "--json", token=ann)).json["approval"]
        for words in (["--budget-total", "401"], ["--no-limits"])
    ][-1]
    assert request["status"] == "pending"
    assert await total() == 400
    assert request["summary"] == "change the limits of acme: in_total from 400 to none"
    done = await abacus("approvals", "approve", request["approval_id"], "--digest", request["digest"], token=ben)
    assert done.code == 0, done.err
    assert await total() is None


async def test_an_assumption_is_set_when_a_second_person_has_approved_it(abacus: Abacus, pool: Pool) -> None:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    fay, ben = await hire(pool, "fay", "finance"), await hire(pool, "ben", "approver:SG")
    values = "--program GRP --country SG --currency SGD --cost-per-point 0.008 --from 2026-01-01 --reason study --json"
    words = ("report", "assumptions", "set", *values.split())
    asked = (await abacus(*words, "--expected-use", "97%", token=fay)).json["approval"]
    assert asked["summary"] == "assume of GRP in SG from 2026-01-01: 97% used, 0.008 SGD a point"
    store = AssumptionStore(pool)
    assert await store.all() == []
    approve = ("approvals", "approve", asked["approval_id"], "--digest", asked["digest"])
    assert (await abacus(*approve, token=fay)).code == 2
    assert (await abacus(*approve, token=ben)).code == 0
    (version,) = await store.all()
    assert (version.name, version.set_by, version.reason) == ("GRP/SG@1", "person:fay", "study")
    assert version.estimate == Estimate("SGD", Decimal("0.97"), Decimal("0.008"))
    same = await abacus(*words, "--expected-use", "97%", token=fay)
    assert (same.code, "says the same already" in same.err) == (2, True)
    other = (await abacus(*words, "--expected-use", "96%", token=fay)).json["approval"]
    await store.set(
        "GRP",
        "SG",
        date(2026, 1, 1),
        Estimate("SGD", Decimal("0.96"), Decimal("0.008")),
        by="tests",
        why="x",
        now=SystemClock().now(),
    )
    late = await abacus("approvals", "approve", other["approval_id"], "--digest", other["digest"], token=ben)
    assert (late.code, len(await store.all())) == (2, 2)
