"""An approval as people read it: a title, what changes from what to what, why it takes two, and what it names."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

from abacus.approving.assumptions import Assumed, assumption_proposal
from abacus.approving.closes import close_proposal
from abacus.approving.executors import card_proposal, limits_proposal
from abacus.console.pages.approvals.tellings import EVERY_KIND, TELLINGS
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.journeys.desk import JourneyDesk
from abacus.ledger.types.limits import Limits
from abacus.oversight.closing.books import MonthBooks, Papers
from abacus.oversight.closing.decide.journal import JournalSum
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Estimate
from abacus.oversight.reports.decide.benefits import BenefitRow
from abacus.oversight.reports.decide.by import By, not_asked_for
from abacus.oversight.reports.decide.rollforward import SIGNS, Movement, Tie
from abacus.oversight.reports.decide.sheet import sheet
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import parse_card, to_document
from abacus.pricing.store.cards import CardReader
from abacus.programs.expiry.decide.month import Month
from tests.console.campaigning import MARKET, cards, submitted
from tests.console.desk import Browser, Desk, desk
from tests.console.one_member import adjusted, opened
from tests.documents.samples import JOURNEYS
from tests.people.approving import ANN, BEN, proposal

JSON = re.compile(r'[{\[]&#34;|[{\[]"|&#34;:')


def test_every_kind_is_told() -> None:
    assert {each.kind for each in TELLINGS} == set(ApprovalKind)


async def shown(who: Browser, approval: Approval) -> dict[str, Any]:
    """The page says nothing as JSON, and no button has a digest."""
    here = f"/approvals/{approval.approval_id}"
    text = (await who.see(here)).text
    assert JSON.search(text.partition("<main")[2]) is None
    assert '<button class="primary">Approve</button>' in text
    found: dict[str, Any] = (await who.twin(here)).json()
    return found


def changes(page: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(each["place"], each["before"], each["value"]) for each in page["told"]["value"]["changes"]]


async def newest(open_desk: Desk) -> Approval:
    return (await open_desk.rooms[Approvals].all(limit=1))[0]


async def test_a_journey_is_told_as_sentences(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        journeys = open_desk.rooms[JourneyDesk]
        _, approval = await journeys.propose(await journeys.read(JOURNEYS.document), ANN)
        page = await shown(await open_desk.inside("ben", "approver:SG"), approval)
        assert page["title"] == "Journey welcome, SG"
        said = [(each["begins"], each["says"]) for each in page["told"]["value"]["sentences"]]
        assert ("Members enter", "by transactions/transaction.completed") in said
        assert ("node by node", "pause waits → thanks; thanks: award → through; through leaves") in said


async def test_a_campaign_is_told_as_sentences(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        first = await submitted(open_desk)
        ben = await open_desk.inside("ben", "approver:SG")
        page = await shown(ben, first)
        assert page["title"] == "Campaign “Bring people back”, SG"
        assert {"begins": "", "says": "award 500 points", "depth": 1} in page["told"]["value"]["sentences"]
        assert (changes(page), page["may_try"]) == ([], True)
        await ben.send(f"/approvals/{first.approval_id}", f"/approvals/{first.approval_id}/approve")
        steps = [{"at": 3, "do": [{"award": {"points": 600}}]}]
        campaigns = open_desk.rooms[CampaignDesk]
        _, second = await campaigns.propose(await campaigns.read({**MARKET, "steps": steps}), ANN)
        page = await shown(ben, second)
        assert page["told"]["value"]["against"] == "market@1"
        assert ("Then · step 1 · What is done · deed 1 · Award · Points", "500", "600") in changes(page)
        assert page["told"]["value"]["about"] == [{"kind": "campaign", "name": "market@2"}]
        assert 'href="/campaigns/market"' in (await ben.see(f"/approvals/{second.approval_id}")).text


async def test_a_button_asks_for_the_backtest_of_exactly_this_version(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approval = await submitted(open_desk)
        ben, here = await open_desk.inside("ben", "approver:SG"), f"/approvals/{approval.approval_id}"
        assert (await ben.send(here, f"{here}/try")).headers["location"] == here
        page = (await ben.twin(here)).json()
        assert (page["may_try"], len(page["trials"]["value"])) == (False, 1)
        kind, subject = await pool.fetchrow("select kind, subject from console_errand")
        assert (kind, subject.partition(" ")[0]) == ("campaign-backtest", "market")


async def test_a_movement_has_the_balance_before_and_after(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann, ben = await open_desk.inside("ann", "support"), await open_desk.inside("ben", "approver")
        await adjusted(ann, "-30")
        waiting = await newest(open_desk)
        page = await shown(ben, waiting)
        assert page["title"] == "-30 GRP for bob, SG"
        assert changes(page) == [("Balance of GRP", "100", "70")]
        assert page["told"]["value"]["why"] == "One person moves at most 10 points alone; these are 30."
        assert 'href="/members/bob"' in (await ben.see(f"/approvals/{waiting.approval_id}")).text
        await ben.send(f"/approvals/{waiting.approval_id}", f"/approvals/{waiting.approval_id}/approve")
        await adjusted(ann, "5")
        done = (await ben.twin(f"/approvals/{waiting.approval_id}")).json()
        assert (done["approval"]["status"], changes(done)) == ("done", [("Balance of GRP", "100", "70")])


def books_of_june() -> MonthBooks:
    moved = Movement("GRP", "SG", "-", "-", "-", 10, **{**dict.fromkeys(SIGNS, 0), "issued": 7, "spent": 2}, closing=15)
    return MonthBooks(
        month=Month(2026, 6),
        papers=Papers("accounts-2026-06.toml", b""),
        files={"journal-2026-06.csv": b""},
        movements=sheet("movements", "", Movement, [moved], not_asked_for([By.COUNTRY])),
        ties=sheet("ties", "", Tie, []),
        journal=[JournalSum("SGD", 2, Decimal("0.07"), Decimal("0.07"))],
        benefits=sheet("benefits", "", BenefitRow, []),
        obstacles=[],
        seal=None,
    )


async def test_a_card_limits_assumptions_and_a_month_are_told_from_what_to_what(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        await open_desk.partner("acme")
        ben = await open_desk.inside("ben", "approver")
        (card,) = (each.card for each in open_desk.rooms[CardReader].book().by_start("SG"))
        other = parse_card({**to_document(card), "timezone": "Asia/Kuala_Lumpur"})
        estimate = Estimate("SGD", Decimal("0.97"), Decimal("0.01"))
        await AssumptionStore(pool).set(
            "POINTS",
            "SG",
            date(2026, 1, 1),
            estimate._replace(cost_per_point=Decimal("0.02")),
            by="person:ann",
            why="a guess",
            now=open_desk.clock.now(),
        )
        assumed = Assumed("POINTS", "SG", date(2026, 7, 1), estimate, "a study")
        ask = open_desk.rooms[Approvals].ask
        for asked, title, change in (
            (
                card_proposal(other, []),
                "Rate card of SG from 2026-01-01",
                ("Time zone", "Asia/Singapore", "Asia/Kuala_Lumpur"),
            ),
            (
                limits_proposal("acme", Limits(), Limits(per_day=900)),
                "Limits of the partner acme",
                ("Points in a day", "500", "900"),
            ),
            (
                assumption_proposal(assumed),
                "Assumptions for POINTS, SG, from 2026-07-01",
                ("Cost of a point", "0.02", "0.01"),
            ),
            (close_proposal(books_of_june(), ""), "Close of 2026-06", ("GRP in SG", "10", "15")),
        ):
            page = await shown(ben, await ask(asked, ANN.agent))
            assert page["title"] == title
            assert change in changes(page)
            assert page["told"]["value"]["why"]


async def test_a_kind_that_nobody_tells_is_told_as_rows(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ben = await open_desk.inside("ben", "approver")
        approval = await open_desk.rooms[Approvals].ask(proposal(), ANN.agent)
        unknown = approval._replace(kind="gift", document='{"gift": {"cups_of_tea": 2}}')
        listed = EVERY_KIND.listed(unknown)
        assert (listed.noun, listed.title) == ("gift", approval.summary)
        page = await shown(ben, approval)  # of a kind that is known, with a document that is not
        assert page["told"]["value"]["everything"] == [
            {"place": "points", "value": "5", "before": None, "changed": False}
        ]


async def test_what_waits_for_me_stands_first(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        room = open_desk.rooms[Approvals]
        for number, who in enumerate((ANN, BEN, ANN)):
            await room.ask(proposal(f"p{number}"), who.agent)
            open_desk.clock.pass_(seconds=1)
        ben, vic = await open_desk.inside("ben", "approver:SG"), await open_desk.inside("vic", "viewer")
        page = (await ben.twin("/approvals")).json()
        titles = [each["title"] for each in page["waiting"]["first"]]
        assert titles == ["Limits of the partner p0", "Limits of the partner p2"]  # not its own
        assert [each["title"][-2:] for each in page["list"]["rows"]] == ["p2", "p1", "p0"]
        assert (await vic.twin("/approvals")).json()["waiting"] is None
        assert (await ben.twin("/approvals?status=pending")).json()["waiting"] is None
        assert page["waiting"]["all"] == 2
