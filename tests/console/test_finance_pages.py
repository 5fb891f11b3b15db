"""Finance in the console: reports that are asked for, assumptions, and a month that is signed only when it may be."""

import json
from datetime import date
from typing import Any
from uuid import uuid4

import pytest

from abacus.approving.assumptions import read_assumed
from abacus.console.decide.charts import Line
from abacus.console.decide.checklist import checklist
from abacus.console.decide.reports import REPORTS, charts_of
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, Order
from abacus.console.pages.finance.assumptions import DRAFT
from abacus.core.errors import Refused
from abacus.documents.form.example import example
from abacus.documents.form.faults import FILL_IN
from abacus.documents.form.types import flat
from abacus.oversight.closing.decide.record import Act, Signed
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.decide.assumption_form import ASSUMPTION_FORM, to_document
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, nothing_else
from abacus.programs.expiry.decide.month import Month
from tests.console.asking import errand
from tests.console.campaigning import cards
from tests.console.desk import Desk, desk
from tests.support.staff import ADMIN

JUNE = "/finance/close/2026-06"
GOOD = {"month": "2026-06", "may_be_signed": True, "seal": 1, "obstacles": []}
UNTIED = {**GOOD, "may_be_signed": False, "obstacles": [{"name": "not-tied", "said": "they do not", "left": True}]}


ACCOUNT = {
    "comes_out": True,
    "whole": True,
    "messages": 0,
    "verdicts": {},
    "on_the_way": 0,
    "findings": [],
    "more_findings": 0,
}


async def with_accounts(open_desk: Desk) -> None:
    room = accounts_desk(open_desk.pool, open_desk.clock)
    pair = {"debit": "6100 Expense", "credit": "2400 Points"}
    draft = await room.read({"program": "all", "country": "all", "issued": pair}, await room.around())
    await room.publish(await room.differences([draft]), ADMIN)


async def asked(open_desk: Desk, kind: str) -> list[Errand]:
    return [each for each in await open_desk.rooms[ErrandStore].all(None, after=None, limit=99) if each.kind == kind]


@pytest.mark.parametrize(
    ("name", "typed", "arguments"),
    [
        ("rollforward", {"month": "2026-06"}, ["--month=2026-06", "--by=country"]),
        ("months", {"month": "2026-06"}, ["--month=2026-06"]),
        ("liability", {}, []),
        ("liability", {"at": "2026-06-30"}, ["--at=2026-06-30"]),
        ("ageing", {}, []),
        ("cohorts", {"at": "2026-06-30"}, ["--at=2026-06-30"]),
        ("revenue", {"month": "2026-06"}, ["--month=2026-06"]),
    ],
)
async def test_a_report_is_asked_for(pool: Pool, name: str, typed: dict[str, str], arguments: list[str]) -> None:
    async with desk(pool) as open_desk:
        fay = await open_desk.inside("fay", "finance")
        page = f"/finance/reports/{name}"
        sent = await fay.send(page, page, **typed)
        assert sent.status_code == 303
        (asked_,) = await asked(open_desk, f"report-{name}")
        (kept,) = asked_.keeps
        assert asked_.arguments == ["report", name, *arguments, "--json", f"--parquet={kept}"]
        document = {"rows": [{"program": "GRP", "month": "2026-05", "lapses": "2026-12", "liability": "12.50"}]}
        await open_desk.rooms[ErrandStore].cancel(asked_.errand_id, by="fay")
        open_desk.clock.pass_(seconds=1)
        order = Order(asked_.kind, asked_.subject, None, tuple(asked_.arguments), keeps=(kept,))
        await errand(open_desk, uuid4(), order, document=document)
        shown = await fay.see(sent.headers["location"])
        assert "12.50" in shown.text
        assert kept in shown.text


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("rollforward", {"month": ""}),
        ("rollforward", {"month": "2026-13"}),
        ("liability", {"at": "--help"}),
        ("revenue", {}),
    ],
)
async def test_a_parameter_that_is_none(pool: Pool, name: str, typed: dict[str, str]) -> None:
    async with desk(pool) as open_desk:
        fay = await open_desk.inside("fay", "finance")
        page = f"/finance/reports/{name}"
        refused = await fay.send(page, page, **typed)
        assert refused.status_code == 422
        assert await asked(open_desk, f"report-{name}") == []
        assert (await fay.see("/finance/reports/other")).status_code == 404


def test_charts_run_along_months() -> None:
    rows = [
        {"month": "2026-05", "earned": 10, "spent": 1, "expired": 0, "outstanding": 9},
        {"month": "2026-06", "earned": 5, "spent": 0, "expired": 0, "outstanding": 5},
        {"month": "2026-06", "earned": 2, "spent": None, "expired": 0, "outstanding": 2},
        {"month": "owed", "earned": 0, "spent": 0, "expired": 0, "outstanding": -3},
    ]
    (chart,) = charts_of(REPORTS["cohorts"], rows)
    assert len(chart.times) == 2
    assert chart.lines[0] == Line("earned", [10, 7])
    assert charts_of(REPORTS["cohorts"], rows[-1:]) == []
    assert charts_of(REPORTS["liability"], rows) == []
    with pytest.raises(Refused):
        REPORTS["rollforward"].arguments("", date(2026, 7, 1))


ASSUMED = {
    "doc.program": "GRP",
    "doc.country": "SG",
    "doc.currency": "SGD",
    "doc.effective_from": "2026-07-01",
    "doc.expected_use": "97%",
    "doc.reason": "a study",
}


async def test_an_assumption_has_each_fault_at_its_field(pool: Pool) -> None:
    wrong = {
        "program": "grp",
        "country": "Singapore",
        "effective_from": "soon",
        "expected_use": "970%",
        "currency": "",
        "cost_per_point": "cheap",
        "reason": "",
    }
    async with desk(pool) as open_desk:
        await cards(open_desk)
        fay = await open_desk.inside("fay", "finance")
        refused = await fay.send_for_twin(
            DRAFT, DRAFT, **{f"doc.{name}": text for name, text in wrong.items()}, sure="do"
        )
        assert (refused.status_code, set(refused.json()["faults"]["at"])) == (422, {*wrong})
        assert wrong.items() <= {name[4:]: text for name, text in refused.json()["carried"].items()}.items()
        assert await open_desk.rooms[Approvals].all() == []


async def test_assumptions_are_set_when_another_person_has_approved_them(pool: Pool) -> None:
    page = "/finance/assumptions"
    good = {**ASSUMED, "doc.cost_per_point": "0.01"}
    async with desk(pool) as open_desk:
        await cards(open_desk)
        fay = await open_desk.inside("fay", "finance")
        unknown = await fay.send(DRAFT, DRAFT, **{**good, "doc.program": "NOBODYS"})
        assert (unknown.status_code, "nobody issues points of NOBODYS in SG" in unknown.text) == (422, True)
        looked = await fay.send(DRAFT, DRAFT, **good)
        assert (looked.status_code, "97% will be used" in looked.text) == (200, True)
        sent = [await fay.confirm(looked, sure="do") for _ in range(2)]
        assert [each.status_code for each in sent] == [303, 303]
        assert sent[0].headers["location"] == sent[1].headers["location"]
        assert (await fay.twin(page)).json()["versions"]["value"] == []
        asked = sent[0].headers["location"]
        dora = await open_desk.inside("dora", "approver:SG")
        assert "Assumptions for GRP, SG" in (await dora.see(asked)).text
        assert (await dora.send(asked, f"{asked}/approve")).status_code == 303
        again = await fay.send(DRAFT, DRAFT, **good)
        assert (again.status_code, "says the same already" in again.text) == (422, True)
        shown = (await fay.twin(f"{DRAFT}?of=GRP/SG")).json()["carried"]
        today = {"doc.reason": "", "doc.effective_from": open_desk.clock.now().date().isoformat()}
        assert (good | today).items() <= shown.items()
        other = (await fay.send_for_twin(DRAFT, DRAFT, **{**good, "doc.expected_use": "95%"})).json()
        told = [(each["where"], each["was"], each["now"]) for each in other["changes"]]
        assert (other["against"], ("Expected use", "97%", "95%") in told) == ("version 1", True)
        (version,) = (await fay.twin(page)).json()["versions"]["value"]
        assert (version["program"], version["set_by"], version["reason"]) == ("GRP", "person:fay", "a study")
        ann = await open_desk.inside("ann", "viewer")
        assert "Set another version" not in (await ann.see(page)).text
        assert (await ann.see(DRAFT)).status_code == 403


def test_the_form_of_assumptions_agrees_with_its_reader() -> None:
    wanted = read_assumed(example(ASSUMPTION_FORM))
    document = to_document("GRP", "SG", wanted.estimate, since=wanted.effective_from, reason=wanted.reason)
    assert read_assumed(document) == wanted
    assert set(document) | {"cost_per_point", "selling_price", "allocated_per_point"} == {
        each.name for each in flat(ASSUMPTION_FORM.fields)
    }


async def test_a_month_that_is_not_tied_cannot_be_signed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        fay = await open_desk.inside("fay", "finance")
        await with_accounts(open_desk)
        opened = await fay.send("/finance", "/finance/close", month="2026-06")
        assert opened.headers["location"] == JUNE
        token = {"form": (await fay.see(JUNE)).text.split('name="form" value="')[1].split('"')[0]}

        async def sign() -> int:
            return (await fay.client.post(f"{JUNE}/sign", data={**token, "key": str(uuid4())})).status_code

        assert await sign() == 422
        for wrong in ({"accept[]": "reconcile"},):
            assert (await fay.send(JUNE, f"{JUNE}/check", **wrong)).status_code == 422
        assert (await fay.send(JUNE, f"{JUNE}/check")).status_code == 303
        (checked,) = await asked(open_desk, "close-check")
        assert checked.arguments == [
            "report",
            "close",
            "--month=2026-06",
            "--check",
            "--json",
        ]
        await open_desk.rooms[ErrandStore].cancel(checked.errand_id, by="fay")
        open_desk.clock.pass_(seconds=1)
        order = Order("close-check", "2026-06", None, tuple(checked.arguments), json.loads(checked.papers))
        await errand(open_desk, uuid4(), order, document=UNTIED)
        shown = (await fay.twin(JUNE)).json()
        assert {each["name"] for each in shown["items"] if each["stands"]} == {"not-tied"}
        assert (shown["may_sign"], await sign()) == (False, 422)
        assert f'action="{JUNE}/sign"' not in (await fay.see(JUNE)).text
        assert await asked(open_desk, "close-sign") == []
        # By another check it may, with the papers of that check, once.
        open_desk.clock.pass_(seconds=1)
        await errand(open_desk, uuid4(), order, document=GOOD)
        form = {**token, "key": str(uuid4())}
        assert [(await fay.client.post(f"{JUNE}/sign", data=form)).status_code for _ in range(2)] == [303, 303]
        (signing,) = await asked(open_desk, "close-sign")
        assert "--check" not in signing.arguments
        assert signing.keeps == [
            "rollforward-2026-06.csv",
            "journal-2026-06.csv",
            "accounts-2026-06.toml",
            "reconciled-2026-06.json",
        ]


async def test_the_account_of_the_month_comes_with_the_check(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        fay = await open_desk.inside("fay", "finance")
        await with_accounts(open_desk)
        assert (await fay.send(JUNE, f"{JUNE}/account")).status_code == 303
        (accounted,) = await asked(open_desk, "close-reconcile")
        # From where June begins first to where it ends last, by the cards of the examples.
        assert accounted.arguments[1:3] == ["--from=2026-05-31T16:00:00+00:00", "--to=2026-06-30T17:00:00+00:00"]
        await open_desk.rooms[ErrandStore].cancel(accounted.errand_id, by="fay")
        open_desk.clock.pass_(seconds=1)
        order = Order("close-reconcile", "2026-06", None, tuple(accounted.arguments))
        await errand(open_desk, uuid4(), order, document=ACCOUNT)
        given = {"accept[]": "quarantine", "reason": "known <b>"}
        assert (await fay.send(JUNE, f"{JUNE}/check", **given)).status_code == 303
        (checked,) = await asked(open_desk, "close-check")
        assert json.loads(json.loads(checked.papers)["reconciled-2026-06.json"]) == ACCOUNT
        assert checked.arguments[3:] == [
            "--reconciled=reconciled-2026-06.json",
            "--accept=quarantine",
            "--reason=known <b>",
            "--check",
            "--json",
        ]


async def test_accounts_are_published_in_a_form_and_kept_between_months(pool: Pool) -> None:
    page, drafts = "/finance/accounts", "/accounts-draft"
    typed = {"doc.issued.debit": "6100 <b>Expense", "doc.issued.credit": "2400 Points", "doc.program": "GRP"}
    async with desk(pool) as open_desk:
        await cards(open_desk)
        fay = await open_desk.inside("fay", "finance")
        text = (await fay.twin(drafts)).json()["draft"]["text"]
        typed |= {"text": text, "shown": text}
        for wrong, fault in (
            ({"doc.issued.debit": "2400 Points"}, "the account of the debit; name another"),
            ({"doc.issued.credit": ""}, FILL_IN),
        ):
            refused = await fay.send_for_twin(drafts, drafts, **{**typed, **wrong}, act="submit")
            assert (refused.status_code, refused.json()["faults"]["at"]) == (422, {"issued.credit": [fault]})
        shown = (await fay.send_for_twin(drafts, drafts, **typed, act="submit")).json()
        assert [f"{each['begins']} {each['says']}" for each in shown["sentences"]] == [
            "For points of GRP",
            "in every country",
            "Points that members earn or are given: debit 6100 <b>Expense, credit 2400 Points",
        ]
        assert (await fay.submit(drafts, drafts, shown["draft"]["text"])).headers["location"] == page
        assert "GRP.all@1 is published." in (await fay.see(page)).text
        assert (await fay.twin(f"{drafts}?of=GRP.all")).json()["changes"]["nothing"]
        (listed,) = (await fay.twin(page)).json()["published"]
        assert (listed["name"], listed["accounts"]) == ("GRP.all", {"issued": ["6100 <b>Expense", "2400 Points"]})
        assert (await fay.twin(JUNE)).json()["steps"][0]["says"] == ["GRP.all"]
        ann = await open_desk.inside("ann", "viewer")
        assert drafts not in (await ann.see(page)).text
        assert (await ann.see(drafts)).status_code == 403


async def test_a_close_is_taken_back_with_a_reason(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        signed = Signed(Month(2026, 6), 0, Act.CLOSED, "person:fay", open_desk.clock.now(), "", {"a.csv": "0" * 64}, ())
        await MonthCloses(pool).sign(signed, nothing_else)
        fay = await open_desk.inside("fay", "finance")
        assert "0" * 64 in (await fay.see(JUNE)).text
        assert (await fay.twin("/finance")).json()["next"] == "2026-07"
        assert (await fay.send(JUNE, f"{JUNE}/reopen", reason="")).status_code == 422
        assert (await fay.send(JUNE, f"{JUNE}/reopen", reason="a mistake")).status_code == 303
        (reopening,) = await asked(open_desk, "close-sign")
        assert reopening.arguments[2:] == ["--month=2026-06", "--reopen", "--reason=a mistake", "--json"]


@pytest.mark.parametrize(
    ("role", "sees", "checks"), [("viewer", 200, 403), ("finance", 200, 303), ("finance:SG", 403, 403)]
)
async def test_who_sees_the_books_and_who_closes_them(pool: Pool, role: str, sees: int, checks: int) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        kim = await open_desk.inside("kim", role)
        for path in ("/finance", "/finance/reports/ageing", JUNE, "/trust"):
            assert (path, (await kim.see(path)).status_code) == (path, sees)
        token = (await kim.see("/me")).text.split('name="form" value="')[1].split('"')[0]
        form = {"form": token, "key": str(uuid4())}
        assert (await kim.client.post(f"{JUNE}/check", data=form)).status_code == checks


@pytest.mark.parametrize(
    ("document", "states"),
    [
        (None, {None}),
        (GOOD, {False}),
        (UNTIED, {False, True}),
    ],
)
def test_a_checklist_names_everything_that_a_close_looks_at(document: Any, states: set[bool | None]) -> None:
    items = checklist(document, "2026-06")
    assert {each.stands for each in items} == states
    assert {each.name for each in items if each.acceptable} == {"exchange", "expiry", "quarantine", "reconcile"}
    assert len(items) == 10


@pytest.mark.parametrize("given", ["2026-13", "2026-07;reboot", "0001-01"])
async def test_an_address_with_no_month_is_told_so_and_is_in_no_command(pool: Pool, given: str) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "finance")
        answer = await ann.twin(f"/finance/reports/rollforward?month={given}")
        page = answer.json()
        assert (answer.status_code, page["command"], list(page["form"]["wrong"])) == (
            422,
            "abacus report rollforward",
            ["month"],
        )


async def test_trust_asks_for_what_is_long(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        olga = await open_desk.inside("olga", "operator")
        for act in ("verify", "seal"):
            assert (await olga.send("/trust", f"/trust/{act}")).status_code == 303
        for wrong in (
            {"begin": "", "end": ""},
            {"begin": "2026-06-02T00:00", "end": "2026-06-01T00:00"},
            {"begin": "0001-01-01T00:00", "end": "9999-12-31T23:59"},
        ):
            assert (await olga.send("/trust", "/trust/reconcile", **wrong)).status_code == 422
        window = {"begin": "2026-06-01T00:00", "end": "2026-06-02T00:00"}
        assert (await olga.send("/trust", "/trust/reconcile", **window)).status_code == 303
        for wrong in ({"member": ""}, {"member": "bob", "seal": "-1"}):
            assert (await olga.send("/trust", "/trust/prove", **wrong)).status_code == 422
        proof = {"member": "--bob", "program": "GRP", "seal": "3"}
        assert (await olga.send("/trust", "/trust/prove", **proof)).status_code == 303
        found = {
            each.kind: each.arguments for each in await open_desk.rooms[ErrandStore].all(None, after=None, limit=9)
        }
        assert found == {
            "verify": ["ledger", "verify", "--json"],
            "seal": ["ledger", "seal", "--json"],
            "reconcile": [
                "reconcile",
                "--from=2026-06-01T00:00:00+00:00",
                "--to=2026-06-02T00:00:00+00:00",
                "--json",
            ],
            "proof": ["ledger", "prove", "--program=GRP", "--seal=3", "--", "--bob"],
        }
        ann = await open_desk.inside("ann", "viewer")
        assert "/trust/seal" not in (await ann.see("/trust")).text
