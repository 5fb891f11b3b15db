"""Partners are entered and changed: rights and keys at once, wider limits by a second person."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from abacus.core.tokens import digest_of
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import ApprovalKind
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.desk import Browser, Desk, desk
from tests.support.hooks import partner as hooked

RIGHTS = {"name": "Acme", "may[]": "fixed_points", "requests_per_minute": "60"}
NEW = {"partner_id": "zest", **RIGHTS}


async def shown(browser: Browser, partner: str = "acme") -> dict[str, Any]:
    page: dict[str, Any] = (await browser.twin(f"/partners/{partner}")).json()
    limits = {each["field"]: each["limit"] for each in page["partner"]["limits"]}
    return {**page["partner"], "limits": limits}


async def log(open_desk: Desk) -> list[str]:
    return [row[0] for row in await open_desk.pool.fetch("select deed from audit_log where subject = 'partner:acme'")]


async def test_a_partner_is_entered_and_its_key_shown_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        eve = await open_desk.inside("eve", "operator")
        made = await eve.do("/partners-enter", **NEW, others="rides", **{"countries[]": "SG"})
        assert made.status_code == 200
        [key] = re.findall(r"abk_live_\w{55}", made.text)
        prefix, digest = (await pool.fetch("select prefix, digest from partner_key"))[0]
        assert (key.startswith(prefix), digest) == (True, digest_of(key))
        there = await shown(eve, "zest")
        assert (there["rights"], there["countries"], there["sources"]) == (["fixed_points"], ["SG"], ["rides"])
        assert there["requests_per_minute"] == 60
        assert key not in (await eve.see("/partners/zest")).text


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"partner_id": "No Such Id"}, "partner_id", "an id has 1 to 40 small letters"),
        ({"partner_id": "acme"}, "partner_id", "there is a partner of this id already"),
        ({"partner_id": ""}, "partner_id", "an id has 1 to 40 small letters"),
        ({"name": " "}, "name", "say who the partner is"),
        ({"others": "a b/c"}, "others", "is not a source"),
        ({"requests_per_minute": "many"}, "requests_per_minute", "Write a whole number"),
        ({"requests_per_minute": "0"}, "requests_per_minute", "between 1 and"),
        ({"may[]": "may_adjust"}, "may", "may do nothing"),
        ({"may[]": "signing_secret"}, "may", "may do nothing"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field(pool: Pool, typed: dict[str, str], field: str, says: str) -> None:
    page = "/partners-enter"
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        sent = {f"doc.{name}": text for name, text in (NEW | typed).items()}
        answer = await eve.send_for_twin(page, page, **sent, sure="do")
        assert (answer.status_code, list(answer.json()["faults"]["at"])) == (422, [field])
        assert says in answer.json()["faults"]["at"][field][0]
        assert await pool.fetchval("select count(*) from partner") == 1


async def test_rights_are_changed_as_they_are_typed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        await pool.execute("update partner set sources = null")
        eve = await open_desk.inside("eve", "operator")
        for typed, sources in (
            (RIGHTS, None),
            (RIGHTS | {"others": "rides mart"}, ["rides", "mart"]),
            (RIGHTS | {"sources[]": "mart", "others": "eats, mart"}, ["mart", "eats"]),
            (RIGHTS, []),
        ):
            answer = await eve.do("/partners/acme/rights", **typed)
            assert answer.status_code == 303
            there = await shown(eve)
            assert (there["rights"], there["sources"]) == (["fixed_points"], sources)
        assert await log(open_desk) == ["edit-partners"] * 4


async def test_narrower_limits_hold_at_once_and_wider_ones_when_another_person_approves(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve, dora = await open_desk.inside("eve", "operator"), await open_desk.inside("dora", "approver")
        narrower = await eve.do("/partners/acme/limits", per_day="400", per_award="50")
        assert narrower.headers["location"] == "/partners/acme"
        limits = {"per_day": 400, "per_award": 50, "per_member_day": None, "in_total": None}
        assert (await shown(eve))["limits"] == limits
        wider = await eve.do("/partners/acme/limits", per_day="4000", per_award="50")
        assert (await shown(eve))["limits"] == limits
        [approval] = await open_desk.rooms[Approvals].all()
        assert (approval.kind, wider.headers["location"]) == (ApprovalKind.LIMITS, f"/approvals/{approval.approval_id}")
        approved = await dora.send(f"/approvals/{approval.approval_id}", f"/approvals/{approval.approval_id}/approve")
        assert approved.status_code == 303
        assert (await shown(eve))["limits"] == limits | {"per_day": 4000}


@pytest.mark.parametrize("typed", ["-1", "1.5", "many", "1" * 20, "1000000000000001"])
async def test_a_limit_is_a_whole_number(pool: Pool, typed: str) -> None:
    page = "/partners/acme/limits"
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        answer = await eve.send(page, page, **{"doc.per_day": typed, "sure": "do"})
        assert (answer.status_code, f'value="{typed}"' in answer.text) == (422, True)
        assert (await shown(eve))["limits"]["per_day"] == 500


async def test_a_new_key_is_made_once_and_the_old_one_ends_in_time(pool: Pool) -> None:
    page = "/partners/acme/new-key"
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        open_desk.clock.pass_(seconds=1)
        eve = await open_desk.inside("eve", "operator")
        looked = await eve.send(page, page, **{"doc.stays": "1"})
        typed = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', looked.text)) | {"sure": "do"}
        first, second = [await eve.client.post(page, data=typed) for _ in range(2)]
        assert (first.status_code, second.status_code) == (200, 409)
        assert (len(re.findall(r"abk_live_\w{55}", first.text)), "abk_live_" in second.text) == (1, False)
        keys = (await shown(eve))["keys"]
        assert [each["expires_at"] is None for each in keys] == [False, True]
        assert datetime.fromisoformat(keys[0]["expires_at"]) == open_desk.clock.now() + timedelta(hours=1)
        wrong = await eve.send(page, page, **{"doc.stays": "soon"})
        assert wrong.status_code == 422


async def test_a_partner_is_shut_out_and_let_in_again(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        await eve.send("/partners/acme/disable", "/partners/acme/disable", sure="do")
        assert (await shown(eve))["disabled_at"] is not None
        await eve.send("/partners/acme", "/partners/acme/enable")
        assert (await shown(eve))["disabled_at"] is None
        assert await log(open_desk) == ["edit-partners"] * 2


@pytest.mark.parametrize(
    "act",
    ["rights", "limits", "new-key", "disable", "enable", "try-webhook", "webhook", "webhook-secret", "webhook-end"],
)
async def test_nobody_changes_a_partner_who_is_not_there_or_without_the_role(pool: Pool, act: str) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve, sam = await open_desk.inside("eve", "operator"), await open_desk.inside("sam", "support")
        for who, partner, status in ((eve, "nobody", 404), (sam, "acme", 403)):
            token = (await who.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
            typed = RIGHTS | {"form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11", "overlap": "1"}
            answer = await who.client.post(f"/partners/{partner}/{act}", data=typed)
            assert (partner, answer.status_code) == (partner, status)
        assert await pool.fetchval("select count(*) from console_errand") == 0
        page = (await sam.see("/partners/acme")).text
        assert [f"/partners/acme/{each}" in page for each in ("rights", "limits", "new-key")] == [False] * 3


async def test_a_trial_is_an_errand_of_the_command(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        token = (await eve.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
        typed = {"form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"}
        assert (await eve.client.post("/partners/acme/try-webhook", data=typed)).status_code == 303
        [errand] = await pool.fetch("select kind, arguments from console_errand")
        assert errand["arguments"] == ["partners", "webhook", "test", "--json", "--", "acme"]


async def test_a_webhook_is_added_changed_given_another_secret_and_removed(pool: Pool) -> None:
    here = "/partners/acme"
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        added = await eve.do(f"{here}/webhook", url="https://hooks.example.com/a")
        [secret] = re.findall(r"whsec_[\w+/=-]+", added.text)
        assert secret not in (await eve.see(here)).text
        typed = {"doc.url": "https://hooks.example.com/b"}
        looked = (await eve.send_for_twin(f"{here}/webhook", f"{here}/webhook", **typed)).json()
        assert [(each["was"], each["now"]) for each in looked["changes"]] == [
            ("https://hooks.example.com/a", "https://hooks.example.com/b")
        ]
        changed = await eve.do(f"{here}/webhook", url="https://hooks.example.com/b")
        assert changed.status_code == 303
        assert "https://hooks.example.com/b from now on" in (await eve.see(here)).text
        rotated = await eve.do(f"{here}/webhook-secret", signs_too="24")
        [other] = re.findall(r"whsec_[\w+/=-]+", rotated.text)
        assert other != secret
        assert "signs too until" in rotated.text
        for own, status in (("acm", 422), ("acme", 303)):
            assert (await eve.do(f"{here}/webhook-end", partner=own)).status_code == status
        assert (await eve.twin(here)).json()["hook"]["value"] is None
        gone = await eve.do(f"{here}/webhook-secret", signs_too="24")
        assert (gone.status_code, "there is no webhook of" in gone.text) == (422, True)
        assert await log(open_desk) == ["edit-partners"] * 4


@pytest.mark.parametrize("url", ["", "http://hooks.example.com/", "https://127.0.0.1/", "hooks"])
async def test_a_webhook_goes_to_the_public_internet_alone(pool: Pool, url: str) -> None:
    page = "/partners/acme/webhook"
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "operator")
        refused = await eve.send_for_twin(page, page, **{"doc.url": url, "sure": "do"})
        assert (refused.status_code, list(refused.json()["faults"]["at"])) == (422, ["url"])
        assert await pool.fetchval("select count(*) from webhook") == 0


async def test_messages_that_arrived_are_shown_the_newest_first(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await hooked(pool, "acme", "https://hooks.example.com/")
        for number in range(12):
            await pool.execute(
                "insert into webhook_delivery (message_id, partner_id, type, body, created_at, attempts, due_at,"
                " retry_until, delivered_at, last_status, member_id) values ($1, $2, 'abacus.award.posted', '{}',"
                " now(), 1, now(), now(), now() + $3::integer * interval '1 second', 204, 'bob')",
                f"m{number}",
                "acme" if number else "other",
                number,
            )
        eve = await open_desk.inside("eve", "operator")
        hook = (await eve.twin("/partners/acme")).json()["hook"]["value"]
        assert [each["message_id"] for each in hook["delivered"]] == [f"m{number}" for number in range(11, 1, -1)]
