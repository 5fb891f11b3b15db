"""What is done to a published document by buttons of its page: a downstream is tried, given another secret and retired,
and a counter is retired.
"""

import re
from typing import Any

import pytest

from abacus.console.pages.downstreams.downstreams import DOWNSTREAM_REGISTER
from abacus.documents.form.example import example
from abacus.engage.downstreams.decide.downstream_document import parse_downstream, restore_downstream
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.decide.definition_form import COUNTER_FORM
from tests.console.campaigning import submitted
from tests.console.desk import Browser, Desk, desk, token_in
from tests.console.furnished import publish_coupons
from tests.support.counters import RAIN, publish_counter, publish_weather
from tests.support.staff import ADMIN

SECRET = re.compile(r"whsec_[\w+/=-]+")
COUPONS = {"name": "coupons", "kind": "webhook", "url": "https://coupons.example/hook"}
RISK = {
    "name": "risk",
    "kind": "external",
    "url": "https://risk.example/score",
    "type": "integer",
    "otherwise": "false",
}
OWN = {"name": "awards", "kind": "own", "pace": "5/s"}


@pytest.mark.parametrize(
    ("document", "retired", "labels"),
    [
        (COUPONS, False, ["Send a test message", "Make another secret", "Retire"]),
        (RISK, False, ["Ask it a test question", "Make another secret", "Retire"]),
        (OWN, False, ["Retire"]),
        (COUPONS, True, []),
    ],
)
def test_what_may_be_done_to_a_downstream(document: dict[str, Any], labels: list[str], *, retired: bool) -> None:
    downstream = restore_downstream(document, 1, retired=retired)
    assert [each.label for each in DOWNSTREAM_REGISTER.deeds(downstream)] == labels


async def publish(open_desk: Desk, *documents: dict[str, Any]) -> None:
    downstreams = open_desk.rooms[DownstreamDesk]
    drafts = [parse_downstream(each, to_private=False) for each in documents]
    await downstreams.publish(await downstreams.differences(drafts), ADMIN)


async def deeds(who: Browser, path: str) -> list[str]:
    return [each["path"] for each in (await who.twin(path)).json()["deeds"]]


async def test_a_webhook_gets_another_secret_and_is_retired_each_once(pool: Pool) -> None:
    here = "/downstreams/coupons"
    async with desk(pool) as open_desk:
        await publish_coupons(open_desk)
        await submitted(open_desk, steps=[{"do": [{"call": "coupons"}]}])
        ann = await open_desk.inside("ann", "operator")
        looked = await ann.send(f"{here}/secret", f"{here}/secret", **{"doc.signs_too": "1"})
        first = await ann.confirm(looked, sure="do")
        assert (first.status_code, len(SECRET.findall(first.text))) == (200, 1)
        # The same form again makes no other one, and nobody sees the secret once more.
        assert (await ann.confirm(looked, sure="do")).status_code == 409
        assert SECRET.findall((await ann.see(here)).text) == []
        assert (await ann.do(f"{here}/secret", signs_too="2")).status_code == 422
        asked = (await ann.twin(f"{here}/retire")).json()
        assert asked["is_confirmation"]
        assert asked["notes"] == [
            "Nothing is sent to it any more. Calls that wait are refused.",
            "The campaign market calls it: its calls are refused from then on.",
        ]
        done = await ann.send(f"{here}/retire", f"{here}/retire", sure="do")
        assert done.headers["location"] == here
        assert "coupons is retired." in (await ann.see(here)).text
        assert await deeds(ann, here) == []
        assert [(await ann.see(f"{here}/{act}")).status_code for act in ("secret", "retire")] == [409, 409]
        entries = await log(pool, subjects=["downstream:coupons"])
        assert [each.actor for each in entries] == ["person:ann", "person:ann", ADMIN.source]


@pytest.mark.parametrize(
    ("document", "condition", "notes"),
    [
        (
            RISK,
            {"operator": "gt", "lhs": "external.risk", "rhs": 5},
            [
                "It is asked nothing any more.",
                "The campaign market asks it: conditions on its value do not hold from then on.",
            ],
        ),
        (OWN, None, ["Nothing limits the pace of awards any more."]),
    ],
)
async def test_what_comes_of_the_end_of_a_downstream(
    pool: Pool, document: dict[str, Any], condition: dict[str, Any] | None, notes: list[str]
) -> None:
    here = f"/downstreams/{document['name']}"
    async with desk(pool) as open_desk:
        await publish(open_desk, document)
        if condition is not None:
            await submitted(open_desk, when=condition)
        ann = await open_desk.inside("ann", "operator")
        assert (await ann.twin(f"{here}/retire")).json()["notes"] == notes
        assert (await ann.send(f"{here}/retire", f"{here}/retire", sure="do")).status_code == 303


async def test_a_trial_is_a_task_of_the_command(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await publish_coupons(open_desk)
        ann = await open_desk.inside("ann", "operator")
        sent = await ann.send("/downstreams/coupons", "/downstreams/coupons/try")
        assert sent.headers["location"] == "/downstreams/coupons"
        trial = (await ann.twin("/downstreams/coupons")).json()["trial"]["value"]["errand"]
        assert trial["arguments"] == ["downstreams", "test", "--json", "--", "coupons"]
        assert (await ann.twin("/tasks")).json()["list"]["rows"][0]["words"] == "Trial of a downstream"


async def test_a_counter_is_retired_for_a_reason(pool: Pool) -> None:
    here = "/counters/orders"
    async with desk(pool) as open_desk:
        counters = open_desk.rooms[CounterDesk]
        orders = await counters.read(example(COUNTER_FORM), await counters.around())
        await counters.publish(await counters.differences([orders]), ADMIN)
        await submitted(open_desk, when={"operator": "gt", "lhs": "counter.orders(7d)", "rhs": 5})
        ann = await open_desk.inside("ann", "operator")
        assert (await ann.do(f"{here}/retire")).status_code == 422
        looked = await ann.send(f"{here}/retire", f"{here}/retire", **{"doc.reason": "nobody asks"})
        assert "The campaign market asks for it: it answers to no event any more." in looked.text
        assert (await ann.confirm(looked, sure="do")).headers["location"] == here
        version = (await ann.twin(here)).json()["versions"][0]["told"]
        assert (version["withdrawal"]["by"], version["withdrawal"]["reason"]) == ("person:ann", "nobody asks")
        assert await deeds(ann, here) == []
        assert (await ann.see(f"{here}/retire")).status_code == 409
        entries = await log(pool, subjects=["counter:orders"])
        assert [each.actor for each in entries] == ["person:ann", ADMIN.source]


@pytest.mark.parametrize(
    "path",
    [
        "/downstreams/coupons/retire",
        "/downstreams/coupons/secret",
        "/downstreams/coupons/try",
        "/counters/count_rain_drops/retire",
    ],
)
async def test_deeds_are_for_those_who_may_publish(pool: Pool, path: str) -> None:
    async with desk(pool) as open_desk:
        await publish_counter(pool, RAIN, await publish_weather(pool))
        await publish_coupons(open_desk)
        ann, vic = await open_desk.inside("ann", "operator"), await open_desk.inside("vic", "viewer")
        nowhere = path.replace("coupons", "nothing").replace("count_rain_drops", "nothing")
        for who, address, status in ((vic, path, 403), (ann, nowhere, 404)):
            typed = {"form": token_in((await who.see("/me")).text), "sure": "do", "doc.reason": "over"}
            assert (await who.client.post(address, data=typed)).status_code == status
        assert await deeds(vic, path.rpartition("/")[0]) == []
        assert await pool.fetchval("select count(*) from console_errand") == 0
