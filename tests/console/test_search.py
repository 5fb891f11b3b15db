"""One search: what is found by what was typed, by whom, and that a room that is slow holds up nobody."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.requests import Request

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.pages.search.finders import found
from abacus.console.web.calls import Call, call_of
from abacus.console.web.cookies import Cookies
from abacus.core.ids import award_id
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader
from tests.console.campaigning import cards, submitted
from tests.console.desk import Browser, Desk, desk
from tests.console.furnished import publish_coupons
from tests.people.approving import ANN, proposal
from tests.support.counters import RAIN, publish_counter, publish_weather
from tests.support.hooks import award, post


async def furnished(pool: Pool, open_desk: Desk) -> None:
    await submitted(open_desk)
    await open_desk.partner("acme")
    await publish_counter(pool, RAIN, await publish_weather(pool))
    await publish_coupons(open_desk)
    await post(
        pool,
        award("txn:rides:T-1001", 100, "bob"),
        award("txn:food:T-1002", 40, "bobby"),
        award("txn:food:T-9", 1, "alice"),
        award("api:acme:welcome-7", 5, "alina")._replace(country="ID"),
        award("txn:rides:U-1", 7, "bo%_\\")._replace(country="ID"),
    )


async def names(who: Browser, text: str) -> dict[str, list[str]]:
    """What was found, by its noun."""
    groups = (await who.client.get("/search", params={"q": text}, headers={"Accept": "application/json"})).json()
    assert [each["found"]["down"] for each in groups["groups"] if each["found"]["down"]] == []
    return {each["noun"]: [one["name"] for one in each["found"]["value"]] for each in groups["groups"]}


FOUND: list[tuple[str, str, list[str] | None]] = [
    ("bo", "Members", ["bo%_\\", "bob", "bobby"]),
    ("bob", "Members", ["bob", "bobby"]),
    ("bobb", "Members", ["bobby"]),
    ("bo%", "Members", ["bo%_\\"]),
    ("ob", "Members", None),
    ("txn:rides:T", "Transactions and transfers", ["txn:rides:T-1001"]),
    ("T-10", "Transactions and transfers", ["txn:food:T-1002", "txn:rides:T-1001"]),
    ("T-1001", "Transactions and transfers", ["txn:rides:T-1001"]),
    ("welcome", "Transactions and transfers", ["api:acme:welcome-7"]),
    ("bob:GRP:1", "Transactions and transfers", ["txn:rides:T-1001"]),
    ("mark", "Campaigns", ["market"]),
    ("bring people", "Campaigns", ["market"]),
    ("ac", "Partners", ["acme"]),
    ("sg", "Rate cards", ["SG"]),
    ("rain", "Counters", ["count_rain_drops"]),
    ("weath", "Event sources", ["weather"]),
    ("Coup", "Downstreams", ["coupons"]),
    ("eve", "People", ["eve"]),
    ("'; drop table account; --", "Members", None),
]


async def test_things_are_found(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        eve = await open_desk.inside("eve", "admin")
        for text, noun, expected in FOUND:
            assert (text, (await names(eve, text)).get(noun)) == (text, expected)
            page = await eve.client.get("/search", params={"q": text})
            assert (text, page.status_code) == (text, 200)
            for name in expected or ():
                assert name.partition("%")[0] in page.text, text


async def test_approvals_are_found_by_their_id_and_by_what_they_are_about(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        approval = await open_desk.rooms[Approvals].ask(proposal("acme"), ANN.agent)
        eve, other = await open_desk.inside("eve", "viewer:SG"), await open_desk.inside("oto", "viewer:ID")
        here = str(approval.approval_id)
        for text in (here, "acme", "limits of"):
            assert (await names(eve, text))["Approvals"] == [here]
            assert "Approvals" not in await names(other, text)


@pytest.mark.parametrize(
    ("role", "members"),
    [("viewer:ID", ["alina"]), ("viewer:SG", ["alice"]), ("viewer", ["alice", "alina"])],
)
async def test_only_what_is_open_to_the_person_is_found(pool: Pool, role: str, members: list[str]) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        who = await open_desk.inside("who", role)
        assert (await names(who, "ali"))["Members"] == members
        assert "People" not in await names(who, "who")
        assert ("Partners" in await names(who, "acme")) == (role == "viewer")
        keys = (await names(who, "txn:")).get("Transactions and transfers", [])
        assert ("txn:food:T-9" in keys, "txn:rides:U-1" in keys) == (role != "viewer:ID", role != "viewer:SG")


async def test_what_was_typed_exactly_stands_on_top(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        eve = await open_desk.inside("eve", "admin")
        for text, kind, name in (
            ("bob", "member", "bob"),
            ("T-1001", "transfer", "txn:rides:T-1001"),
            ("market@1", "campaign", "market"),
        ):
            page = (await eve.twin(f"/search?q={text}")).json()
            assert (page["exact"]["kind"], page["exact"]["name"]) == (kind, name)
        assert (await eve.twin("/search?q=bo")).json()["exact"] is None
        page = await eve.see("/search?q=bob")
        assert '<p class="lead"><a href="/members/bob">bob</a>' in page.text
        assert (await eve.see(f"/search?q={award_id('api:none:1')}")).status_code == 200
        assert (await eve.see("/search?q=" + "x" * 201)).status_code == 422


async def test_suggestions_are_a_list_of_links_and_no_page(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        eve = await open_desk.inside("eve", "admin")
        text = (await eve.see("/suggestions?q=bob")).text
        assert '<a href="/members/bob">' in text
        assert "<html" not in text
        assert "Nothing found" in (await eve.see("/suggestions?q=zzz")).text


async def test_a_room_that_is_slow_or_new_is_one_finder_more(pool: Pool) -> None:
    async def slow(_: Call, __: str, ___: int) -> Sequence[Found]:
        await asyncio.Event().wait()
        return ()

    async def offers(_: Call, text: str, most: int) -> Sequence[Found]:
        return [Found("offer", text, f"Offer {text}")][:most]

    finders = [Finder("Parcels", slow), Finder("Offers", offers), Finder("Secrets", offers, Deed.MANAGE_PEOPLE)]
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "viewer:SG")
        groups = await found(await call_by(open_desk, eve), "tea", 5, finders, within_s=0.05)
        assert [(each.noun, each.found.value is None) for each in groups] == [("Parcels", True), ("Offers", False)]
        assert groups[0].found.down is not None
        assert groups[0].found.down.detail == "no answer within 0.05 s"


async def call_by(open_desk: Desk, who: Browser) -> Call:
    cookie = "; ".join(f"{name}={value}" for name, value in who.client.cookies.items())
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "query_string": b""}
    request = Request(scope | {"headers": [(b"cookie", cookie.encode())]})
    return await call_of(request, open_desk.premises, Cookies(secure=False))


async def test_a_transfer_has_a_page_for_people_of_its_country(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        await open_desk.rooms[CardReader].refresh()
        eve, ida = await open_desk.inside("eve", "viewer:SG"), await open_desk.inside("ida", "viewer:ID")
        page = (await eve.twin("/transfers/txn%3Arides%3AT-1001")).json()
        assert (page["title"], page["transfer"]["balance_after"]) == ("+100 GRP for bob", 100)
        assert (page["transfer"]["source"], page["member_id"]) == ("stream", "bob")
        assert 'href="/members/bob"' in (await eve.see("/transfers/txn:rides:T-1001")).text
        hidden, unknown = await ida.see("/transfers/txn:rides:T-1001"), await ida.see("/transfers/txn:rides:none")
        for each in (hidden, unknown):
            assert "No transfer that you may see has this key" in each.text


async def test_what_was_seen_of_late_is_the_person_s_own(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(pool, open_desk)
        eve = await open_desk.inside("eve", "admin")
        for path in ("/members/bob", "/campaigns/market", "/members/bob", "/members", "/partners/nobody"):
            await eve.see(path)
        seen = (await eve.twin("/search")).json()["seen"]
        assert [(each["kind"], each["name"]) for each in seen] == [("member", "bob"), ("campaign", "market")]
        assert 'href="/campaigns/market"' in (await eve.see("/search")).text
        for number in range(20):
            await eve.see(f"/members/m{number}")
        assert len((await eve.twin("/search")).json()["seen"]) == 8
        await eve.send("/me", "/sign-out")
        await open_desk.hire("bob", "viewer")
        await eve.sign_in("bob")
        assert (await eve.twin("/search")).json()["seen"] == []
        eve.client.cookies.set("abacus-seen", "e30")
        assert (await eve.twin("/search")).json()["seen"] == []
