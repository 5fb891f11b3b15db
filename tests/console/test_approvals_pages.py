"""Approvals: another person decides, in its countries, on exactly what it was shown."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from abacus.approving.executors import card_proposal
from abacus.cli.examples import example_cards
from abacus.people.decide.agreement import canonical
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind, Proposal
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import parse_card, to_document
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Desk, desk, token_in
from tests.people.approving import ANN, Effects, proposal

EVIL = "<script>alert(1)</script>"


def with_effects(open_desk: Desk) -> tuple[Approvals, Effects]:
    """The console's approvals, whose executors note what takes effect."""
    effects = Effects()
    open_desk.rooms[Approvals].carried_out_by(dict.fromkeys(ApprovalKind, effects))
    return open_desk.rooms[Approvals], effects


async def status(open_desk: Desk, approval: Approval) -> str:
    found = await open_desk.rooms[Approvals].find(approval.approval_id)
    assert found is not None
    return str(found.status)


async def test_another_person_approves_what_it_was_shown_and_it_happens_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approvals, effects = with_effects(open_desk)
        approval = await approvals.ask(proposal(), ANN.agent)
        here = f"/approvals/{approval.approval_id}"
        ben = await open_desk.inside("ben", "approver:SG")
        assert approval.digest in (await ben.see(here)).text
        form = {"form": token_in((await ben.see(here)).text), "digest": approval.digest}
        both = await asyncio.gather(*(ben.client.post(f"{here}/approve", data=form) for _ in range(2)))
        assert [each.status_code for each in both] == [303, 303]
        assert len(effects.happened) == 1
        assert await status(open_desk, approval) == "done"
        assert f"{here}/approve" not in (await ben.see(here)).text


async def test_the_author_does_not_approve_and_may_withdraw(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approvals, effects = with_effects(open_desk)
        approval = await approvals.ask(proposal(), ANN.agent)
        ann, here = await open_desk.inside("ann", "approver"), f"/approvals/{approval.approval_id}"
        page = await ann.see(here)
        assert f"{here}/approve" not in page.text
        assert "somebody else has to approve it" in page.text
        token = token_in(page.text)
        forced = await ann.client.post(f"{here}/approve", data={"form": token, "digest": approval.digest})
        assert (forced.status_code, await status(open_desk, approval), effects.happened) == (422, "pending", [])
        assert (await ann.send(here, f"{here}/reject", reason="not any more")).status_code == 303
        assert await status(open_desk, approval) == "rejected"


@pytest.mark.parametrize(
    ("role", "country", "sees", "approves"),
    [
        ("approver:SG", "SG", True, True),
        ("approver:ID", "SG", False, False),
        ("approver:SG", None, False, False),
        ("approver", None, True, True),
        ("support:SG", "SG", True, False),
        ("viewer", "SG", True, False),
    ],
)
async def test_who_sees_and_decides(
    pool: Pool,
    role: str,
    country: str | None,
    sees: bool,  # noqa: FBT001  # a row's outcome
    approves: bool,  # noqa: FBT001  # a row's outcome
) -> None:
    async with desk(pool) as open_desk:
        approvals, effects = with_effects(open_desk)
        approval = await approvals.ask(proposal(country=country), ANN.agent)
        here = f"/approvals/{approval.approval_id}"
        who = await open_desk.inside("ben", role)
        listed = (await who.twin("/approvals")).json()["list"]["rows"]
        waiting = [each for each in (await who.twin("/")).json()["cards"] if each["name"] == "approvals"]
        assert (await who.see(here)).status_code == (200 if sees else 404)
        assert len(listed) == sees
        assert (waiting[0]["part"]["value"]["all"] if waiting else 0) == approves
        token = token_in((await who.see("/me")).text)
        for how in ("approve", "reject"):
            sent = await who.client.post(f"{here}/{how}", data={"form": token, "digest": "0" * 64, "reason": "no"})
            assert sent.status_code in ({303, 422} if approves else {403, 404, 422})
        assert effects.happened == []
        assert (await status(open_desk, approval) == "rejected") is approves


async def test_another_digest_than_the_shown_one_approves_nothing(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approvals, effects = with_effects(open_desk)
        approval = await approvals.ask(proposal(), ANN.agent)
        ben, here = await open_desk.inside("ben", "approver"), f"/approvals/{approval.approval_id}"
        sent = await ben.send(here, f"{here}/approve", digest="f" * 64)
        assert (sent.status_code, "look at it again" in sent.text, effects.happened) == (422, True, [])


@pytest.mark.parametrize(("reason", "wrong"), [("", "Say why."), ("  ", "Say why."), ("x" * 501, "At most 500")])
async def test_a_rejection_has_a_reason_and_what_was_typed_is_kept(pool: Pool, reason: str, wrong: str) -> None:
    async with desk(pool) as open_desk:
        approvals, _ = with_effects(open_desk)
        approval = await approvals.ask(proposal(), ANN.agent)
        ben, here = await open_desk.inside("ben", "approver"), f"/approvals/{approval.approval_id}"
        sent = await ben.send(here, f"{here}/reject", reason=reason)
        assert (sent.status_code, wrong in sent.text, 'aria-invalid="true"' in sent.text) == (422, True, True)
        assert reason.strip() in sent.text
        assert await status(open_desk, approval) == "pending"


async def test_what_others_wrote_is_text(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approvals, _ = with_effects(open_desk)
        evil = Proposal(ApprovalKind.LIMITS, EVIL, "SG", EVIL, canonical({EVIL: [EVIL, '" onload="x'], "n": None}))
        approval = await approvals.ask(evil, ANN.agent)
        ben, here = await open_desk.inside("ben", "admin"), f"/approvals/{approval.approval_id}"
        await ben.send(here, f"{here}/reject", reason=EVIL)
        for path in (here, "/approvals", "/", "/log", "/log?actor=%3Cscript%3Ealert(1)%3C/script%3E"):
            text = (await ben.see(path)).text
            assert "<script>alert" not in text
            assert '" onload="x' not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (await ben.see(here)).text


async def test_a_card_is_compared_with_the_one_in_force(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        card = next(each for each in example_cards() if each.scope == "SG")
        await CardStore(pool).publish(card, by="tests", now=datetime.now(UTC))
        await open_desk.rooms[CardReader].refresh()
        changed = parse_card({**to_document(card), "timezone": "Asia/Kuala_Lumpur"})
        approval = await open_desk.rooms[Approvals].ask(card_proposal(changed, ["timezone"]), ANN.agent)
        ben = await open_desk.inside("ben", "approver:SG")
        twin = (await ben.twin(f"/approvals/{approval.approval_id}")).json()
        (line,) = twin["told"]["value"]["changes"]
        assert (line["before"], line["value"]) == ("Asia/Singapore", "Asia/Kuala_Lumpur")


async def test_the_list_goes_on_by_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approvals, _ = with_effects(open_desk)
        for number in range(120):
            await approvals.ask(proposal(f"p{number}", number), ANN.agent)
            open_desk.clock.pass_(seconds=number % 3)  # some at the same moment
        ben = await open_desk.inside("ben", "viewer:SG")
        seen, here, pages = list[str](), "/approvals?status=pending", 0
        while here:
            twin = (await ben.twin(here)).json()["list"]
            seen += [each["approval_id"] for each in twin["rows"]]
            here, pages = twin["more"], pages + 1
            assert here is None or "status=pending" in here
        assert (len(seen), len(set(seen)), pages) == (120, 120, 3)
        text = (await ben.see("/approvals")).text
        assert 'hx-get="/approvals?after=' in text
        for bad in ("x", "é", "AAAA"):
            assert (await ben.see(f"/approvals?after={bad}")).status_code == 404
        assert (await ben.see("/approvals?status=lost")).status_code == 404


async def test_times_are_in_the_zone_of_the_person_with_the_country_s_beside(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        for card in example_cards():
            await CardStore(pool).publish(card, by="tests", now=datetime.now(UTC))
        await open_desk.rooms[CardReader].refresh()
        approvals, _ = with_effects(open_desk)
        approval = await approvals.ask(proposal(), ANN.agent)
        ben, here = await open_desk.inside("ben", "viewer"), f"/approvals/{approval.approval_id}"
        at = approval.asked_at
        in_singapore = at.astimezone(UTC) + timedelta(hours=8)
        text = (await ben.see(here)).text
        assert f"{at:%H:%M:%S} UTC; in SG " in text
        assert f"{in_singapore:%H:%M:%S} UTC+08" in text
        await ben.send("/me", "/me/zone", zone="Asia/Manila")
        assert "; in SG" not in (await ben.see(here)).text  # the same time
        wrong = await ben.send("/me", "/me/zone", zone="Mars/Olympus")
        assert (wrong.status_code, "Choose one." in wrong.text, "Mars/Olympus" in wrong.text) == (422, True, False)
        assert json.loads((await ben.twin("/me")).text)["zone"] == "Asia/Manila"
