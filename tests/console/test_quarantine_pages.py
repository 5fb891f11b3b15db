"""Replaying in the console: chosen and frozen, looked at, and then done once; never all by accident."""

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, Order
from abacus.core.errors import Reason
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.types import Item
from tests.console.asking import errand
from tests.console.desk import Browser, Desk, desk
from tests.console.holding import ITEM, SELECTION, hold, hold_and_select

DRY = {
    "items": 1,
    "outcomes": {"good": 1},
    "missing": [],
    "rows": [{"id": ITEM.id, "outcome": "good", "says": "5 GRP"}],
}


def held(number: int, reason: Reason = Reason.UNKNOWN_TIER) -> Item:
    return replace(ITEM, origin=f"kafka:t/0/{number}", reason=reason, key=f"T-{number}")


async def asked(open_desk: Desk, kind: str) -> list[Errand]:
    return [each for each in await open_desk.rooms[ErrandStore].all(None, after=None, limit=99) if each.kind == kind]


async def chosen(olga: Browser, act: str, **typed: str) -> Any:
    page = "/quarantine?reason=unknown-tier" if act == "all" else "/quarantine"
    return await olga.send(page, "/quarantine", act=act, **typed)


async def test_a_selection_is_frozen_tried_and_replayed_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await hold(open_desk, *(held(number) for number in range(3)), held(9, Reason.INVALID))
        olga = await open_desk.inside("olga", "operator")
        sent = await chosen(olga, "all")
        assert sent.status_code == 303
        here = sent.headers["location"]
        await hold(open_desk, held(4))
        shown = (await olga.twin(here)).json()
        assert (shown["all"], shown["held"], shown["reasons"]) == (3, 3, [["unknown-tier", 3]])
        # Not before a dry run, and not without the number.
        assert f'action="{here}/replay"' not in (await olga.see(here)).text
        token = {"form": (await olga.see(here)).text.partition('name="form" value="')[2].partition('"')[0]}
        early = await olga.client.post(f"{here}/replay", data={**token, "key": str(uuid4()), "number": "3"})
        assert (early.status_code, "See first what would come of it." in early.text) == (422, True)
        assert (await olga.send(here, f"{here}/try")).status_code == 303
        (tried,) = await asked(open_desk, "quarantine-dry-run")
        assert tried.arguments == ["quarantine", "replay", "--ids-from=items.txt", "--dry-run", "--json"]
        assert sorted(json.loads(tried.papers)["items.txt"].split()) == sorted(held(number).id for number in range(3))
        selection_id = here.rpartition("/")[2]
        order = Order("quarantine-dry-run", selection_id, None, tuple(tried.arguments))
        open_desk.clock.pass_(seconds=1)
        await open_desk.rooms[ErrandStore].cancel(tried.errand_id, by="olga")
        await errand(open_desk, uuid4(), order, by="olga", document=DRY)
        wrong = await olga.send(here, f"{here}/replay", number="4")
        assert (wrong.status_code, "Type 3, the number of its items." in wrong.text) == (422, True)
        assert await asked(open_desk, "quarantine-replay") == []
        form = {**token, "key": str(uuid4()), "number": "3"}
        for _ in range(2):
            assert (await olga.client.post(f"{here}/replay", data=form)).status_code == 303
        again = await olga.client.post(f"{here}/replay", data={**form, "key": str(uuid4())})
        assert again.status_code == 303
        (replayed,) = await asked(open_desk, "quarantine-replay")
        assert replayed.arguments == ["quarantine", "replay", "--ids-from=items.txt", "--json"]
        assert replayed.papers == tried.papers


async def test_nothing_is_chosen_by_accident(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await hold(open_desk, held(1), held(2))
        olga = await open_desk.inside("olga", "operator")
        none = await chosen(olga, "ticked")
        assert (none.status_code, "Tick at least one item" in none.text) == (422, True)
        every = await olga.send("/quarantine", "/quarantine", act="all")
        assert (every.status_code, "Choose a reason first." in every.text) == (422, True)
        one = await chosen(olga, "ticked", **{"item[]": held(1).id})
        shown = (await olga.twin(one.headers["location"])).json()
        assert [each["id"] for each in shown["first"]] == [held(1).id]


@pytest.mark.parametrize(
    ("role", "sees", "chooses"), [("viewer", 200, 403), ("operator", 200, 303), ("operator:SG", 403, 403)]
)
async def test_who_may_look_and_who_may_replay(pool: Pool, role: str, sees: int, chooses: int) -> None:
    async with desk(pool) as open_desk:
        await hold_and_select(open_desk)
        kim = await open_desk.inside("kim", role)
        assert (await kim.see("/quarantine")).status_code == sees
        item = await kim.see(f"/quarantine/items/{ITEM.id}")
        assert item.status_code == sees
        assert "no tier <script>" not in item.text
        token = {"form": (await kim.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]}
        form = {**token, "key": str(uuid4()), "act": "ticked", "item[]": ITEM.id}
        assert (await kim.client.post("/quarantine", data=form)).status_code == chooses
        for act in ("try", "replay"):
            sent = await kim.client.post(f"/quarantine/selections/{SELECTION}/{act}", data=form)
            assert (sent.status_code == 403) is (chooses == 403)


async def test_the_list_goes_on_at_its_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await hold(open_desk, *(held(number) for number in range(60)))
        ann = await open_desk.inside("ann", "viewer")
        found, address = list[str](), "/quarantine?reason=unknown-tier"
        while address:
            page = (await ann.twin(address)).json()["items"]["value"]
            found += [each["id"] for each in page["rows"]]
            address = page["more"]
        assert sorted(found) == sorted({held(number).id for number in range(60)})
        assert (await ann.twin("/quarantine?after=nowhere")).status_code == 404


async def test_dead_letters_are_counted_and_sent_back(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        olga = await open_desk.inside("olga", "operator")
        assert (await olga.send("/dead-letters", "/dead-letters/count")).status_code == 303
        (counted,) = await asked(open_desk, "dead-letters")
        assert counted.arguments == ["dlq", "list", "--json"]
        for wrong in ({"number": "0"}, {"number": "x"}, {"name": "retry"}, {"queue": "other", "name": "other"}):
            form = {"queue": "award", "number": "10", "name": "award", **wrong}
            assert (await olga.send("/dead-letters", "/dead-letters/redrive", **form)).status_code == 422
        form = {"queue": "award", "number": "1,000", "name": "award"}
        assert (await olga.send("/dead-letters", "/dead-letters/redrive", **form)).status_code == 303
        (sent,) = await asked(open_desk, "dead-letters-redrive")
        assert sent.arguments == ["dlq", "redrive", "award", "--limit=1000", "--json"]
        ann = await open_desk.inside("ann", "viewer")
        assert "/dead-letters/redrive" not in (await ann.see("/dead-letters")).text
