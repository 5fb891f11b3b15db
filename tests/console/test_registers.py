"""Registers of kinds without countries: all of a kind, each with its versions in words, and drafts in fields."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import pytest

from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from abacus.signals.events.broker_topics import BrokerTopics
from tests.console.campaigning import cards
from tests.console.desk import Browser, desk
from tests.console.furnished import publish_coupons
from tests.people.approving import BEN
from tests.support.counters import publish_weather


async def typed(who: Browser, path: str, text: str, **fields: str) -> dict[str, Any]:
    """The draft after these fields were typed."""
    sent = {f"doc.{name}": value for name, value in fields.items()}
    answer: dict[str, Any] = (
        await who.send_for_twin(path, path, text=text, shown=text, **({"act": "check"} | sent))
    ).json()
    return answer


def said(version: dict[str, Any]) -> list[str]:
    return [f"{each['begins']} {each['says']}" for each in version["sentences"]]


async def test_a_source_is_written_in_fields_and_its_page_tells_what_changed(pool: Pool) -> None:
    draft = "/events-draft"
    async with desk(pool) as open_desk:
        await publish_weather(pool)
        ann = await open_desk.inside("ann", "operator")
        begun = (await ann.twin(draft)).json()
        assert begun["faults"] == {"at": {}, "elsewhere": []}
        assert (await ann.submit(draft, draft, begun["draft"]["text"])).headers["location"] == "/events/visits"
        text = (await ann.twin(f"{draft}?of=visits")).json()["draft"]["text"]
        more = await typed(ann, draft, text, **{"types/new": "visit.ended", "fields.id/either": "1"})
        text = more["draft"]["text"]
        more = await typed(ann, draft, text, **{'types."visit.ended"/new': "minutes", "fields.id[0]": "/store"})
        assert (await ann.submit(draft, draft, more["draft"]["text"])).status_code == 303
        second, first = (await ann.twin("/events/visits")).json()["versions"]
        assert [f"{each['where']}: {each['was']} → {each['now']}" for each in second["changes"]] == [
            "In a message · Id: /id → /store",
            "Types that are taken · visit.ended · minutes: None → text",
        ]
        assert said(first) == [
            "The source visits",
            "has the messages of the topic store.visits",
            "the type at /type",
            "the id at /id",
            "the time at /at",
            "the member at /member",
            "takes visit.made with minutes (integer), store_id (text)",
        ]
        listed = (await ann.twin("/events")).json()["rows"]
        assert [(each["name"], each["version"]) for each in listed] == [
            ("transactions", 0),
            ("points", 0),
            ("tiers", 0),
            ("places", 0),
            ("visits", 2),
            ("weather", 1),
        ]
        taken = await typed(ann, draft, more["draft"]["text"], source="rain")
        assert list(taken["faults"]["at"]) == ['types."visit.ended"', 'types."visit.made"']


async def test_partners_and_topics_that_there_are_are_offered(pool: Pool) -> None:
    async def topics() -> Collection[str]:
        return ["store.visits", "abacus.events.v1", "__consumer_offsets"]

    broker, draft = BrokerTopics(topics), "/events-draft"
    await broker.look()
    async with desk(pool, beside=lambda _: [broker]) as open_desk:
        await publish_weather(pool)
        await open_desk.partner("acme")
        ann = await open_desk.inside("ann", "operator")
        begun = (await ann.twin(draft)).json()["draft"]["text"]
        more = await ann.send_for_twin(draft, draft, text=begun, shown=begun, act="add:senders")
        topic, senders = (more.json()["panels"][1]["parts"][place] for place in (0, 2))
        assert topic["examples"] == ["p", "store.visits", "t", "weather.observations", "x"]
        assert senders["rows"][0]["parts"][0]["examples"] == ["acme"]


async def test_a_downstream_is_chosen_by_what_it_is_and_its_secret_is_shown_once(pool: Pool) -> None:
    draft = "/downstreams-draft"
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        begun = (await ann.twin(draft)).json()
        assert begun["faults"] == {"at": {}, "elsewhere": []}
        made = await ann.submit(draft, draft, begun["draft"]["text"])
        assert (made.status_code, "whsec_" in made.text) == (200, True)
        shown = await ann.see("/downstreams/coupons")
        assert "whsec_" not in shown.text
        paced = await typed(ann, draft, begun["draft"]["text"], pace="5/s")
        sent = await ann.submit(draft, draft, paced["draft"]["text"])
        assert sent.headers["location"] == "/downstreams/coupons"
        second, _ = (await ann.twin("/downstreams/coupons")).json()["versions"]
        assert [(each["where"], each["was"], each["now"]) for each in second["changes"]] == [
            ("Pace", None, "5/s"),
            ("Time zone of the hours", None, "UTC"),
        ]
        asked = await typed(ann, draft, paced["draft"]["text"], **{"/what": "1"})
        assert (list(asked["faults"]["at"]), asked["faults"]["elsewhere"]) == (["kind"], [])
        fields = {"type": "integer", "otherwise": "wait", "name": "risk"}
        service = await typed(ann, draft, asked["draft"]["text"], **fields)
        assert said(service)[:3] == [
            "This is a service that rules ask",
            "It is called risk",
            "at https://coupons.example.com/abacus",
        ]


@pytest.mark.parametrize("path", ["/events", "/downstreams", "/events/weather", "/downstreams/coupons"])
async def test_registers_are_for_those_whose_role_holds_everywhere(pool: Pool, path: str) -> None:
    async with desk(pool) as open_desk:
        await publish_weather(pool)
        await publish_coupons(open_desk)
        ann, eve = await open_desk.inside("ann", "viewer"), await open_desk.inside("eve", "viewer:SG")
        assert [(await each.twin(path)).status_code for each in (ann, eve)] == [200, 403]
        assert "-draft" not in (await ann.see(path)).text
        assert (await ann.twin(f"/{path.split('/')[1]}/nothing")).status_code == 404


async def test_categories_are_those_of_the_countries_that_are_open(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        text = 'country = "SG"\n\n[categories.food]\npizza = ["thin"]\nnoodles = []\n'
        assert (await ann.submit("/categories-draft", "/categories-draft", text)).status_code == 303
        shown = (await ann.twin("/categories/SG")).json()
        assert (shown["tree"], shown["may_draft"]) == ({"food": {"pizza": ["thin"], "noodles": []}}, True)
        assert said(shown["versions"][0]) == ["In SG", "The categories food (pizza (thin), noodles)"]
        (found,) = (await ann.twin("/search?q=noodles")).json()["groups"]
        assert found["found"]["value"][0]["detail"] == "SG: food > noodles"
        bad = await ann.submit("/categories-draft", "/categories-draft", text.replace("noodles", "thin"))
        assert (bad.status_code, "stands at" in bad.text) == (422, True)
        ida = await open_desk.inside("ida", "country_editor:ID")
        assert (await ida.twin("/categories")).json()["rows"] == []
        assert (await ida.twin("/categories/SG")).status_code == 404


async def test_a_contact_policy_is_submitted_and_approved_by_another(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann, ben = await open_desk.inside("ann", "country_editor:SG"), await open_desk.inside("ben", "approver:SG")
        text = 'country = "SG"\ntimezone = "Asia/Singapore"\nholdout = 5\n\n[caps.sns]\nmarketing = "3 a day"\n'
        assert (await ann.submit("/contact-draft", "/contact-draft", text)).status_code == 303
        assert (await ann.twin("/contact")).json()["rows"] == []
        (approval,) = (await ben.twin("/approvals?status=pending")).json()["list"]["rows"]
        assert approval["title"] == "Contact policy of SG"
        page = (await ben.twin(f"/approvals/{approval['approval_id']}")).json()
        assert "always takes two people" in page["told"]["value"]["why"]
        (asked,) = await open_desk.rooms[Approvals].some([UUID(approval["approval_id"])])
        await open_desk.rooms[Approvals].approve(asked.approval_id, BEN, asked.digest)
        (row,) = (await ann.twin("/contact")).json()["rows"]
        assert row["cells"] == ["marketing over sns: 3 a day", "none", "5 %"]
        shown = (await ann.twin("/contact/SG")).json()
        assert said(shown["versions"][0]) == [
            "In SG",
            "by the clock of Asia/Singapore",
            "At most, marketing over sns: 3 a day",
            "held out are 5 % of members",
        ]
        bad = await ann.submit("/contact-draft", "/contact-draft", text.replace("3 a day", "often"))
        assert (bad.status_code, "is not a cap" in bad.text) == (422, True)
