"""Exchanges in the console: what is open, one with its trail, and what people do of it."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.exchanges.decide.exchange import State, inbound_id
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.reviews import ApprovedReviews
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from tests.console.bookkeeping import found_break
from tests.console.campaigning import cards
from tests.console.desk import Desk, desk
from tests.console.exchanging import set_aside
from tests.support.exchange_house import ExchangeHouse
from tests.support.exchange_rows import enter, exchange
from tests.support.exchanges import SKYMILES, enter_link, enter_partner, run_programme
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import give_points


@pytest.fixture
async def opened(pool: Pool) -> AsyncIterator[Desk]:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await enter_partner(pool, open_desk.clock)
        yield open_desk


async def a_house(pool: Pool, **terms: object) -> ExchangeHouse:
    """Of the programme that is published; bob has points."""
    await give_points(pool, ["bob"], 10_000)
    programme = await run_programme(pool, {**SKYMILES, "reverses_for": "30d", **terms})
    house = ExchangeHouse(pool, programme, partner=MemoryPartner())
    await house.prefund()
    return house


async def test_what_is_open_by_state_and_age(opened: Desk) -> None:
    await run_programme(opened.pool)
    now = opened.clock.now()
    for state, hours in ((State.SENT, 3), (State.HELD, 0)):
        await enter(opened.pool, exchange(state=state, changed_at=now - timedelta(hours=hours)))
    await enter(opened.pool, exchange(state=State.CAPTURED, ended_at=now))
    await enter(opened.pool, exchange(state=State.QUOTED))
    brought = {"exchange_id": inbound_id("skyline", "T-9"), "direction": Direction.IN, "reference": "T-9"}
    await enter(opened.pool, exchange(state=State.AWARDED, ended_at=now, **brought))
    aside = await set_aside(opened)
    await found_break(opened, uuid4())
    sue, eli = [await opened.inside(*each) for each in (("sue", "support:SG"), ("eli", "support:ID"))]
    twin = (await sue.twin("/exchanges")).json()
    counts = {each["state"]: (each["exchanges"], each["late"]) for each in twin["counts"]["value"]}
    assert counts == {"aside": (1, 1), "held": (1, 0), "sent": (1, 0)}
    assert [each["id"] for each in twin["needy"]["value"]] == [str(aside.exchange_id)]
    assert [each["state"] for each in twin["list"]["value"]["rows"]] == ["aside", "sent", "held"]
    for query, states in (("age=hour", ["aside", "sent"]), ("state=held", ["held"]), ("direction=in", [])):
        rows = (await sue.twin(f"/exchanges?{query}")).json()["list"]["value"]["rows"]
        assert [each["state"] for each in rows] == states, query
    nothing = (await eli.twin("/exchanges")).json()
    assert (nothing["counts"]["value"], nothing["list"]["value"]["rows"]) == ([], [])
    assert (await eli.see(f"/exchanges/{aside.exchange_id}")).status_code == 404
    (card,) = [each for each in (await sue.twin("/")).json()["cards"] if each["name"] == "exchanges"]
    of = card["part"]["value"]
    assert (of["aside"], of["late"], of["breaks"], [each["programme"] for each in of["low"]]) == (1, 1, 1, ["skymiles"])
    for who, typed, finds in ((sue, str(aside.exchange_id), True), (sue, "T-9", True), (eli, "T-9", False)):
        assert ("exchange with skymiles" in (await who.twin(f"/search?q={typed}")).text) is finds
    await ProgrammeStore(opened.pool).move("skymiles", None, Act.END, Change("person:ann", now, "so"))
    assert "exchange with skymiles" in (await sue.twin("/search?q=T-9")).text


async def test_what_has_ended_is_listed_by_programme_and_state_in_pages(opened: Desk) -> None:
    now = opened.clock.now()
    for number in range(51):
        when = {"quoted_at": now - timedelta(hours=number), "ended_at": now}
        told = {"exchange_id": UUID(int=number + 1), "reference": f"REF-{number}"}
        await enter(opened.pool, exchange(state=State.CAPTURED, **when, **told))
    await enter(opened.pool, exchange(state=State.RELEASED, ended_at=now))
    sue, eli = [await opened.inside(*each) for each in (("sue", "support:SG"), ("eli", "support:ID"))]
    here = "/exchanges?programme=skymiles&state=captured"
    first = (await sue.twin(here)).json()["list"]["value"]
    assert [each["id"] for each in first["rows"]] == [str(UUID(int=number + 1)) for number in range(50)]
    second = (await sue.twin(first["more"])).json()["list"]["value"]
    assert ([each["id"] for each in second["rows"]], second["more"]) == ([str(UUID(int=51))], None)
    assert "Name the programme" in (await sue.see("/exchanges?state=captured")).text
    assert (await eli.twin(here)).json()["list"]["value"]["rows"] == []
    assert str(UUID(int=8)) in (await sue.twin("/search?q=REF-7")).text
    assert str(UUID(int=8)) not in (await eli.twin("/search?q=REF-7")).text


async def test_what_was_set_aside_is_settled_with_a_reason(opened: Desk) -> None:
    await run_programme(opened.pool)
    await enter_link(opened.pool, opened.clock, "bob")
    here = f"/exchanges/{(await set_aside(opened)).exchange_id}"
    sue, fin = [await opened.inside(*each) for each in (("sue", "support:SG"), ("fin", "finance:SG"))]
    assert (await fin.twin(here)).json()["verdicts"] == []
    told = (await sue.twin(here)).json()
    assert (told["hands"], told["link"]["number"]) == (
        "The house holds them for the member until the partner has said what it did.",
        "…5678",
    )
    assert (await sue.send(here, f"{here}/settle", verdict="cancel", reason="")).status_code == 422
    assert (await sue.send(here, f"{here}/settle", verdict="cancel", reason="they will void it")).status_code == 303
    told = (await sue.twin(here)).json()
    assert [(each["state"], each["by"], each["detail"]) for each in told["trail"]][2:] == [
        ("cancelling", "person:sue", "they will void it")
    ]
    why = "select details ->> 'reason' from audit_log where details ->> 'did' = 'settle-cancel-exchange'"
    assert await opened.pool.fetchval(why) == "they will void it"


async def test_one_that_was_not_sent_is_cancelled_and_one_that_was_credited_is_undone(opened: Desk) -> None:
    house = await a_house(opened.pool)
    sue = await opened.inside("sue", "support:SG")
    first, second = await house.exchange(key="1"), await house.exchange(key="2")
    here = f"/exchanges/{first.exchange_id}"
    assert (await sue.send(here, f"{here}/cancel", reason="the member asked")).status_code == 303
    assert ((await house.now(first)).state, await house.points()) == (State.RELEASED, (10_000, 2500))
    await house.later()
    here = f"/exchanges/{second.exchange_id}"
    told = (await sue.twin(here)).json()
    assert (told["row"]["state"], told["may_cancel"], told["may_reverse"]) == ("captured", False, True)
    assert (await sue.see(f"/transfers/{told['transfers'][0]}")).status_code == 200
    assert (await sue.send(here, f"{here}/reverse", reason="a mistake")).status_code == 303
    await house.later()
    assert ((await house.now(second)).state, await house.points()) == (State.REVERSED, (10_000, 0))
    rows = (await sue.twin("/members/bob")).json()["exchanges"]["value"]
    assert sorted(each["state"] for each in rows) == ["released", "reversed"]


async def test_a_large_one_is_reviewed_by_another_person(opened: Desk) -> None:
    house = await a_house(opened.pool, review_above=2000)
    sue, ben = [await opened.inside(*each) for each in (("sue", "support:SG"), ("ben", "approver:SG"))]
    large = await house.exchange()
    here, waiting = f"/exchanges/{large.exchange_id}", f"/approvals/{large.exchange_id}"
    assert (await sue.twin(here)).json()["review"] is None
    await ApprovedReviews(opened.rooms[Approvals]).looked_at([large], house.clock.now())
    told = (await sue.twin(here)).json()
    assert (told["row"]["state"], told["review"]["status"], told["may_cancel"]) == ("review", "pending", True)
    assert "Exchange of 2,500 points of bob" in (await ben.see(waiting)).text
    digest = (await ben.twin(waiting)).json()["digest"]
    assert (await ben.send(waiting, f"{waiting}/approve", digest=digest)).status_code == 303
    told = (await sue.twin(here)).json()
    assert [(each["state"], each["by"]) for each in told["trail"]] == [
        ("review", "partner:shop"),
        ("held", "person:ben"),
    ]
