"""Rates in the console: drafted in fields or as text, approved by another person, quoted, withdrawn and restored."""

import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from abacus.console.errands.store import ErrandStore
from abacus.core.document_text import read_toml
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader
from tests.console.asking import RATES_BACKTEST, RATES_BACKTESTED, RATES_TRIAL, errand
from tests.console.campaigning import cards
from tests.console.desk import Browser, Desk, desk

DRAFT = "/rates-draft"
PUBLISHER, APPROVER = "country_editor:SG", "approver:SG"


async def text_from(ann: Browser, day: str, **replaced: str) -> str:
    """The latest card of SG, from another day on."""
    text = str((await ann.twin(f"{DRAFT}?of=SG")).json()["draft"]["text"]).replace(
        "2026-01-01T00:00:00", f"{day}T00:00:00"
    )
    for old, new in replaced.items():
        text = text.replace(f'{old} = "2"', f'{old} = "{new}"')
    return text


async def approve(open_desk: Desk, ben: Browser, path: str) -> None:
    digest = (await ben.twin(path)).json()["digest"]
    assert (await ben.send(path, f"{path}/approve", digest=digest)).status_code == 303
    await open_desk.rooms[CardReader].refresh()


async def phases(who: Browser) -> list[tuple[int, str]]:
    return [(each["version"], each["phase"]) for each in (await who.twin("/rates/SG")).json()["spans"]]


async def test_a_card_from_its_fields_to_its_end_by_two_people(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", PUBLISHER, APPROVER)
        ben = await open_desk.inside("ben", APPROVER)
        day = (open_desk.clock.now() + timedelta(days=30)).date().isoformat()
        text = await text_from(ann, day)
        applied = await ann.send(DRAFT, DRAFT, text=text, shown=text, act="check", **{"doc.verticals.food": "4"})
        assert all(each in applied.text for each in ("Verticals · food", "<del>2</del>", "<ins>4</ins>"))
        text = await text_from(ann, day, food="4")
        sent = await ann.submit(DRAFT, DRAFT, text)
        assert sent.status_code == 303
        waiting = sent.headers["location"]
        assert f"{waiting}/approve" not in (await ann.see(waiting)).text
        await approve(open_desk, ben, waiting)
        assert await phases(ann) == [(2, "scheduled"), (1, "in force")]
        again = await ann.submit(DRAFT, DRAFT, text)
        assert (again.status_code, "SG@2 is this card already" in again.text) == (422, True)

        async def points(day_: str) -> tuple[int, str]:
            sale = {"country": "SG", "vertical": "food", "payment_type": "cash", "amount": "10", "at": f"{day_}T12:00"}
            quote = (await ann.twin(f"/rates-quote?{urlencode(sale)}")).json()["quote"]
            return quote["points"], quote["card"]

        assert [await points("2026-02-01"), await points(day)] == [(20, "SG@1"), (40, "SG@2")]
        missing = await ann.send("/rates/SG?version=2", "/rates/SG/withdraw", reason="")
        assert (missing.status_code, "Say why" in missing.text) == (422, True)
        assert (await ann.send("/rates/SG?version=2", "/rates/SG/withdraw", reason="too much")).status_code == 303
        assert await phases(ann) == [(2, "withdrawn"), (1, "in force")]
        assert await points(day) == (20, "SG@1")
        for start, fault in (("soon", "Write a day and a time."), ("", "Write a day and a time.")):
            refused = await ann.send("/rates/SG?version=2", "/rates/SG/restore", start=start)
            assert (refused.status_code, fault in refused.text) == (422, True)
        asked = await ann.send("/rates/SG?version=2", "/rates/SG/restore", start=f"{day}T06:00")
        assert (asked.status_code, await phases(ann)) == (303, [(2, "withdrawn"), (1, "in force")])
        await approve(open_desk, ben, asked.headers["location"])
        restored = (await ann.twin("/rates/SG?version=3")).json()
        assert restored["shown"]["effective_from"] == f"{day}T06:00:00+08:00"
        assert restored["changes"][0] == "verticals.food: 2 → 4 (+100 %)"


async def test_every_fault_stands_beside_its_field_and_what_was_typed_stays(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", PUBLISHER)
        text = await text_from(ann, "2027-01-01", food="-1")
        twin = await ann.client.post(
            DRAFT,
            data={"form": (await ann.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]}
            | {"text": text.replace("floor", "down"), "act": "submit"},
            headers={"Accept": "application/json"},
        )
        assert twin.status_code == 422
        assert set(twin.json()["faults"]["at"]) == {"verticals.food", "rounding"}
        assert 'food = "-1"' in twin.json()["draft"]["text"]
        syntax = await ann.send(DRAFT, DRAFT, text="x = = 1", act="check")
        assert (syntax.status_code, "line 1" in syntax.text) == (422, True)


FOOD, CASH = "doc.verticals.food", "doc.payment_types.cash"


@pytest.mark.parametrize(
    ("text", "fields", "submitted"),
    [
        ({}, {FOOD: "4"}, {"food": "4", "cash": "1"}),
        ({"food": "3"}, {FOOD: "2", CASH: "1"}, {"food": "3", "cash": "1"}),
        ({"food": "3"}, {FOOD: "2", CASH: "7"}, {"food": "3", "cash": "7"}),
        ({"food": "3"}, {FOOD: "3", CASH: "7"}, {"food": "3", "cash": "7"}),
        ({}, {"doc.verticals/new": "bikes", "doc.verticals/value": "5"}, {"food": "2", "bikes": "5"}),
        ({}, {FOOD: ""}, {"food": None}),
        ({"food": "3"}, {FOOD: "4"}, "verticals.food: both changed"),
        ({}, {FOOD: "-4"}, "verticals.food: -4"),
    ],
)
@pytest.mark.parametrize("act", ["submit", "backtest"])
async def test_what_is_submitted_has_the_fields_as_they_were_edited(
    pool: Pool, text: dict[str, str], fields: dict[str, str], submitted: dict[str, str] | str, act: str
) -> None:
    """As a browser sends them: all fields, the text, and the text that both were shown with."""
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", PUBLISHER)
        shown = await text_from(ann, "2027-01-01")
        all_fields = {FOOD: "2", CASH: "1", "doc.rounding": "floor", **fields}
        given = {"shown": shown.replace("\n", "\r\n"), "since": "2026-10-01", "until": "2026-10-31", "act": act}
        given["text"] = await text_from(ann, "2027-01-01", **text)
        sent = await ann.send(DRAFT, DRAFT, **given, **all_fields)
        if isinstance(submitted, str):
            where, _, what = submitted.partition(": ")
            assert (sent.status_code, where in sent.text, what in sent.text) == (422, True, True)
            assert await pool.fetchval("select count(*) from approval") == 0
            return
        if act == "submit":
            review = (await ann.send_for_twin(DRAFT, DRAFT, **given, **all_fields)).json()
            text_ = review["draft"]["text"]
            carried = {"text": text_, "shown": text_, "digest": review["digest"]}
            assert (await ann.send(DRAFT, DRAFT, act="submit", **carried)).status_code == 303
            card = json.loads(await pool.fetchval("select document from approval"))
        else:
            (asked,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
            card = read_toml(json.loads(asked.papers)["card.toml"])
        values = {**card["verticals"], **card["payment_types"]}
        assert {name: values.get(name) for name in submitted} == submitted


async def test_the_diff_is_against_what_is_displaced_on_that_day(pool: Pool) -> None:
    """Not against the latest version, which begins later."""
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann, ben = await open_desk.inside("ann", PUBLISHER), await open_desk.inside("ben", APPROVER)
        late = (open_desk.clock.now() + timedelta(days=60)).date().isoformat()
        soon = (open_desk.clock.now() + timedelta(days=30)).date().isoformat()
        sent = await ann.submit(DRAFT, DRAFT, await text_from(ann, late, food="4"))
        await approve(open_desk, ben, sent.headers["location"])
        text = (
            (await ann.twin(f"{DRAFT}?of=SG@1"))
            .json()["draft"]["text"]
            .replace("2026-01-01", soon)
            .replace("1.5", "1.75", 1)
        )
        sent = await ann.send(DRAFT, DRAFT, text=text, act="check")
        assert "against SG@1" in sent.text
        assert "Only until SG@2 takes over." in sent.text
        waiting = (await ann.submit(DRAFT, DRAFT, text)).headers["location"]
        changes = [each["place"] for each in (await ben.twin(waiting)).json()["told"]["value"]["changes"]]
        assert "Verticals · food" not in changes
        assert "In force from" in changes


async def test_a_backtest_of_exactly_this_card_stands_where_it_is_approved(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann, ben = await open_desk.inside("ann", PUBLISHER), await open_desk.inside("ben", APPROVER)
        text = await text_from(ann, "2027-01-01", food="4")
        days = {"since": "2026-10-01", "until": "2026-10-31"}
        assert (await ann.send(DRAFT, DRAFT, text=text, act="backtest", **days)).status_code == 200
        (asked,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert asked.arguments == ["rates", "backtest", "card.toml", "--from=2026-10-01", "--to=2026-10-31", "--json"]
        assert read_toml(json.loads(asked.papers)["card.toml"])["verticals"]["food"] == "4"  # type: ignore[index]  # a table
        for wrong in ({"since": "x"}, {"since": "2026-12-01"}):
            refused = await ann.send(DRAFT, DRAFT, text=text, act="backtest", **{**days, **wrong})
            assert refused.status_code == 422
        waiting = (await ann.submit(DRAFT, DRAFT, text)).headers["location"]
        (shown,) = (await ben.twin(waiting)).json()["trials"]["value"]
        assert shown["done"]["errand"]["errand_id"] == str(asked.errand_id)
        other = (await ann.submit(DRAFT, DRAFT, text.replace('"4"', '"5"'))).headers["location"]
        assert (await ben.twin(other)).json()["trials"]["value"] == []


@pytest.mark.parametrize(
    ("roles", "seen", "drafted"),
    [
        (["viewer:SG"], 200, 403),
        (["country_editor:ID"], 404, 404),
        (["country_editor:ID", "viewer:SG"], 200, 403),
        (["country_editor:SG"], 200, 200),
    ],
)
async def test_rates_are_open_to_those_of_their_country(pool: Pool, roles: list[str], seen: int, drafted: int) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await errand(open_desk, RATES_TRIAL, RATES_BACKTEST, document=RATES_BACKTESTED)
        kim = await open_desk.inside("kim", *roles)
        assert (await kim.see("/rates/SG")).status_code == seen
        assert (await kim.see(f"/rates-backtests/{RATES_TRIAL}")).status_code == seen
        listed = [each["scope"] for each in (await kim.twin("/rates")).json()["scopes"]]
        assert ("SG" in listed) is (seen == 200)
        opened = (await kim.see(f"{DRAFT}?of=SG")).status_code
        assert opened == (drafted if "country_editor:ID" not in roles or seen == 404 else 200)
        token = (await kim.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
        admin = await open_desk.inside("root", "admin")
        text = await text_from(admin, "2027-01-01", food="4")
        sent = await kim.client.post(DRAFT, data={"form": token, "text": text, "act": "submit"})
        assert ("exactly this is submitted" in sent.text) is (drafted == 200)
        moved = await kim.client.post("/rates/SG/withdraw", data={"form": token, "version": "1", "reason": "so"})
        assert (moved.status_code in {403, 404}) is (drafted != 200)


@pytest.mark.parametrize("act", ["check", "submit", "backtest"])
async def test_a_draft_tells_nothing_of_a_country_that_is_closed(pool: Pool, act: str) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        text = await text_from(await open_desk.inside("root", "admin"), "2027-01-01", food="4")
        kim = await open_desk.inside("kim", "country_editor:ID")
        shown = await kim.send_for_twin(DRAFT, DRAFT, text=text, shown=text, act=act)
        page = shown.json()
        assert (shown.status_code, page["changes"], page["digest"], page["review"]) == (422, None, "", False)
        assert "SG" in page["fault"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"amount": "many"}, "amount"),
        ({"amount": "10", "at": "tomorrow"}, "at"),
        ({"amount": "10", "vertical": "moon"}, None),
        ({"amount": "10", "at": "1999-01-01T00:00"}, None),
    ],
)
async def test_a_quote_that_cannot_be_made(pool: Pool, asked: dict[str, str], field: str | None) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "viewer:SG")
        answer = await ann.twin(f"/rates-quote?{urlencode({'country': 'SG', **asked})}")
        assert answer.status_code == 422
        page = answer.json()
        assert set(page["form"]["wrong"]) == ({field} if field else set())
        assert (page["fault"] is None) is (field is not None)
        assert page["form"]["typed"]["amount"] == asked["amount"]


async def test_what_people_wrote_is_text(pool: Pool) -> None:
    evil = "<script>alert(1)</script>"
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", PUBLISHER)
        for page in (
            await ann.send(DRAFT, DRAFT, text=f'# {evil}\nscope = "{evil}"', act="check"),
            await ann.see(f"/rates-quote?{urlencode({'country': 'SG', 'amount': evil})}"),
        ):
            assert evil not in page.text
            assert "&lt;script&gt;" in page.text


async def test_the_first_card_of_a_country_begins_as_the_example(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        cleo = await open_desk.inside("cleo", "country_editor:JP")
        begun = (await cleo.twin(DRAFT)).json()
        assert 'scope = "JP"' in begun["draft"]["text"]
        assert begun["faults"] == {"at": {}, "elsewhere": []}
