"""`abacus report close`: what stops it, what it writes and signs, and what it shows."""

import csv
import hashlib
import io
import json
from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Estimate
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from abacus.proof.store import Seals
from tests.engage.offers.taken import desk, held, redeeming, rolling_back, wish
from tests.support.commands import Ran, abacus
from tests.support.fixed_clock import FixedClock
from tests.support.logged import card_logged
from tests.support.neighbours import neighbours_are_through
from tests.support.offers import document, run_offers
from tests.support.on_offer import put_in_catalogue, put_on_offer
from tests.support.rewards import Counter, load_codes
from tests.support.sealing import NOW, earned, fill, tampering
from tests.support.slices import home_of
from tests.support.staff import LOGIN, hire

pytestmark = pytest.mark.once

JUNE = "2026-06"
MAPPING = "\n".join(f'[GRP."*".{kind}]\ndebit = "6100 {kind}"\ncredit = "2400 points"' for kind in SIGNS)
ACCOUNT = {
    "from": "2026-05-31T00:00:00+00:00",
    "to": "2026-07-02T00:00:00+00:00",
    "comes_out": True,
    "whole": True,
}
Close = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def close(pool: Pool, database_url: str, tmp_path: Path) -> Close:
    """On a ledger with two awards in June, sealed, with a cost of points, the month's account and a mapping."""
    now = SystemClock().now()
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=now, also=card_logged(card))
    estimate = Estimate("SGD", Decimal("0.97"), cost_per_point=Decimal("0.008"))
    await AssumptionStore(pool).set("GRP", "SG", date(2026, 1, 1), estimate, by="jane", why="a study", now=now)
    await fill(pool, "bob", "eve", transfers=1)
    await Seals(pool, SystemClock()).make()
    mapping, account = tmp_path / "accounts.toml", tmp_path / "account.json"
    mapping.write_text(MAPPING, encoding="utf-8")
    account.write_text(json.dumps(ACCOUNT), encoding="utf-8")

    async def call(*words: str, month: str = JUNE, without: str = "", **env: str) -> Ran:
        given = {
            "--month": month,
            "--mapping": str(mapping),
            "--reconciled": str(account),
            "--out": str(tmp_path),
        }
        options = [part for name, value in given.items() if name != without for part in (name, value)]
        return await abacus("report", "close", *options, *words, env={"ABACUS_DATABASE_URL": database_url, **env})

    return call


async def test_a_check_has_what_offers_gave_by_who_pays(close: Close, pool: Pool) -> None:
    """What was rolled back in July is taken off in July."""
    await run_offers(pool, document())
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection:
        await connection.execute("""
            insert into offer_sum (offer, version, day, outcome, happened_on, slot, times, points, saves, cost)
            values ('lunch_20', 1, '2026-06-10', 'redeemed', '2026-06-10', 1, 3, 0, 12600000, 12600000),
                ('lunch_20', 1, '2026-06-10', 'rolled_back', '2026-07-01', 1, 1, 0, 4200000, 4200000)
        """)
    (row,) = (await close("--check", "--json")).json["benefits"]
    told = (row["what"], row["cost_centre"], row["redeemed"], row["back"], row["money_given"])
    assert told == ("offers", "marketing", 3, 0, "12.60")


@pytest.mark.long
async def test_what_a_month_gave_is_signed_and_stays_when_some_comes_back_later(
    close: Close, pool: Pool, database_url: str, tmp_path: Path
) -> None:
    """An offer and a reward are redeemed in June and come back in July; then June is closed again."""
    june, july = FixedClock(NOW), FixedClock(NOW.replace(month=7, day=2))
    await load_codes(pool, ["A"])
    since: dict[str, Any] = {"starts_at": "2026-05-01T00:00:00Z"}
    lunch = await put_on_offer(pool, "lunch", {"percent": "20"}, limits={"unlimited": True}, **since)
    coffee = await put_in_catalogue(pool, "coffee", price={"points": 50}, paid_by={"cost_centre": "loyalty"}, **since)
    reservation = await held(desk(pool, june), wish(offer=lunch, at=NOW))
    meal = (await desk(pool, june).redemptions.settle(redeeming(reservation, lunch))).redemption
    assert meal is not None
    cup = await Counter(pool, [coffee], clock=june).redeem("1")
    await _sealed(pool)
    first = (await close("--json")).json
    file = tmp_path / f"benefits-{JUNE}.csv"
    assert first["files"][file.name] == hashlib.sha256(file.read_bytes()).hexdigest()
    rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))
    assert [
        (row["what"], row["cost_centre"], row["redeemed"], row["back"], row["money_given"], row["points_burnt"])
        for row in rows
    ] == [("offers", "tests", "1", "0", "4.20", "0"), ("rewards", "loyalty", "1", "0", "0.00", "50")]
    await desk(pool, july).redemptions.roll_back(rolling_back(meal, "all"))
    assert (await Counter(pool, [coffee], clock=july).desk.bring_back(cup)).stage == "returned"
    await _sealed(pool)
    assert (await close("--reopen", "--reason", "to see")).code == 0
    again = (await close("--json")).json
    assert (again["number"], again["files"]) == (3, first["files"])
    env = {"ABACUS_DATABASE_URL": database_url}
    _, sealed, _ = (await abacus("ledger", "seals", "--json", env=env)).json["seals"]
    assert sealed["transfers"] == 4, "an award each, the points that were held, and the points that were paid"
    assert {(each["seal"], each["seal_hash"]) for each in (first, again)} == {(sealed["number"], sealed["hash"])}
    verified = await abacus("ledger", "verify", "--seals", "all", "--json", env=env)
    assert (verified.code, verified.json["seals"]) == (0, [1, 2, 3])


async def _sealed(pool: Pool) -> None:
    await neighbours_are_through(pool)
    await Seals(pool, SystemClock()).make()


async def test_a_month_is_closed_shown_and_reopened(
    close: Close, tmp_path: Path, pool: Pool, database_url: str
) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    closed = await close("--json")
    assert closed.code == 0, closed.err
    signed = closed.json
    assert (signed["month"], signed["number"], signed["act"], signed["signed_by"]) == (
        JUNE,
        1,
        "closed",
        LOGIN,
    )
    assert (signed["seal"], len(signed["seal_hash"]), signed["accepted"]) == (1, 64, [])
    names = ["account.json", "accounts.toml", f"journal-{JUNE}.csv", f"rollforward-{JUNE}.csv"]
    assert signed["files"] == {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names}
    lines = list(csv.DictReader(io.StringIO((tmp_path / names[2]).read_text(encoding="utf-8"))))
    (books,) = csv.DictReader(io.StringIO((tmp_path / names[3]).read_text(encoding="utf-8")))
    assert [(line["account"], line["debit"], line["credit"], line["points"]) for line in lines] == [
        ("6100 issued", "1.15", "0.00", books["issued"]),
        ("2400 points", "0.00", "1.15", books["issued"]),
    ]
    again = await close()
    assert (again.code, again.err.partition(";")[0]) == (2, "abacus: 2026-06 is closed")
    unexplained = await close("--reopen")
    assert (unexplained.code, unexplained.err) == (2, "abacus: --reopen needs a --reason; auditors read it\n")
    reopened = await close("--reopen", "--reason", "the mapping was wrong")
    assert (reopened.code, reopened.out) == (0, f"2026-06 reopened by {LOGIN}\n")
    assert (await close()).code == 0
    shown = await abacus("report", "close", "--show", "--json", env=env)
    assert [
        (row["number"], row["act"], row["reason"], row["files"] == signed["files"]) for row in shown.json["rows"]
    ] == [
        (1, "closed", "", True),
        (2, "reopened", "the mapping was wrong", False),
        (3, "closed", "", True),
    ]
    assert (await abacus("report", "close", "--show", env=env)).out.startswith("Closed months")
    log = await pool.fetch("select deed, subject from audit_log where deed = 'close-books'")
    assert [tuple(row) for row in log] == [("close-books", f"month:{JUNE}")] * 3


async def test_the_accounts_that_are_published_are_used_and_kept(
    close: Close, tmp_path: Path, database_url: str
) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    pair = {"debit": "6100", "credit": "2400"}
    for country, kinds in (("all", SIGNS), ("SG", ["issued"])):
        accounts = {"program": "GRP", "country": country, **dict.fromkeys(kinds, pair)}
        accounts["issued"] = {**pair, "debit": f"6100 {country}"}
        (tmp_path / "draft.json").write_text(json.dumps(accounts), encoding="utf-8")
        published = await abacus("accounts", "publish", str(tmp_path / "draft.json"), env=env)
        assert published.code == 0, published.err
    closed = await close("--json", without="--mapping")
    assert closed.code == 0, closed.err
    kept = tmp_path / f"accounts-{JUNE}.toml"
    assert closed.json["files"][kept.name] == hashlib.sha256(kept.read_bytes()).hexdigest()
    lines = csv.DictReader(io.StringIO((tmp_path / f"journal-{JUNE}.csv").read_text(encoding="utf-8")))
    assert [line["account"] for line in lines] == ["6100 SG", "2400"]


@pytest.mark.long
async def test_a_late_transaction_is_of_the_month_in_which_it_is_posted(
    close: Close, pool: Pool, tmp_path: Path
) -> None:
    first = (await close("--json")).json["files"]
    july = PostgresLedger(pool, FixedClock(NOW.replace(month=7, day=2)))
    await july.post([earned("bob", 2)])
    await _sealed(pool)
    await close("--reopen", "--reason", "to see")
    assert (await close("--json")).json["files"] == first
    (tmp_path / "account.json").write_text(json.dumps({**ACCOUNT, "to": "2026-08-02T00:00:00+00:00"}), encoding="utf-8")
    assert (await close(month="2026-07")).code == 0
    lines = list(csv.DictReader(io.StringIO((tmp_path / "journal-2026-07.csv").read_text(encoding="utf-8"))))
    assert [(line["kind"], line["date"]) for line in lines] == [("issued", "2026-07-31")] * 2


SET_ASIDE = """insert into quarantine (id, stage, origin, reason, detail, body, status, set_aside_at)
    values ('q', 'transaction', 'x', 'invalid', 'x', 'x', 'held', '2026-06-10');
    insert into quarantine_tally values (0, 1) on conflict (bucket) do update set items = 1"""
EXCHANGED = """insert into exchange (exchange_id, direction, programme, version, partner, member_id, program, country,
    link_id, points, theirs, fee, fingerprint, actor, source, state, quoted_at, expires_at, asked_at, changed_at,
    attempts, turns)
    select gen_random_uuid(), 'out', 'skymiles', 1, 'skyways', 'bob', 'GRP', 'SG', gen_random_uuid(), 60, 25, 0, '',
        'ann', 'person:ann', state, at::timestamptz, at::timestamptz, at::timestamptz, at::timestamptz, 1, 2
    from (values ('unknown', '2026-06-30'), ('unknown', '2026-08-01'), ('quoted', '2026-06-30')) e (state, at)"""
SWEPT = """insert into expiry_run
    (country, month, last_day, lapsed_at, started_at, found_day, found_member, found_program)
    values ('SG', '2026-05', '2026-05-31', '2026-05-31', '2026-06-01', '2026-05-31', '', '')"""


@pytest.mark.parametrize(
    ("broken", "line", "may_be_accepted"),
    [
        ("update account set balance = balance + 1", "not-tied: the books do not tie", False),
        ("update account set earned_total = 1", "not-verified: `abacus ledger verify` finds", False),
        ("delete from seal", "seal: no seal covers the month's end", False),
        ("update seal set snapshot = '1:1:'", "seal: no seal covers the month's end", False),
        (SET_ASIDE, "quarantine: 1 invalid set aside by the month's end", True),
        (EXCHANGED, "exchange: 1 unknown of before the month's end", True),
        (SWEPT, "expiry: the end of 2026-05 in SG is not finished", True),
        ("update account set expires_on = '2026-05-31'", "expiry: 2 accounts of SG lapsed before 2026-06", False),
    ],
    ids=lambda value: value.split(":")[0] if isinstance(value, str) else None,
)
async def test_what_stands_in_the_way(
    close: Close, database_url: str, broken: str, line: str, *, may_be_accepted: bool
) -> None:
    async with tampering(database_url) as superuser:
        await superuser.execute(broken)
    ran = await close()
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"abacus: {line}")
    if may_be_accepted:
        accepted = await close("--accept", line.partition(":")[0], "--reason", "known", "--json")
        assert accepted.code == 0, accepted.err
        (said,) = accepted.json["accepted"]
        assert said.startswith(line)


async def test_every_account_and_every_cost_that_is_missing_is_told(close: Close, pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "accounts.toml").write_text('[GRP.ID.issued]\ndebit = "a"\ncredit = "b"', encoding="utf-8")
    estimate = Estimate("SGD", Decimal("0.97"))
    await AssumptionStore(pool).set(
        "GRP", "SG", date(2026, 6, 30), estimate, by="jane", why="x", now=SystemClock().now()
    )
    ran = await close("--check", "--json")
    said = [(each["name"], each["said"].partition(";")[0]) for each in ran.json["obstacles"]]
    assert (ran.code, said) == (
        1,
        [
            ("accounts", "no accounts for issued of GRP in SG"),
            ("cost", "no cost of a point of GRP in SG is assumed by the end of 2026-06"),
        ],
    )
    assert (ran.json["movements"][0]["issued"], ran.json["journal"]) == (144, [])


async def test_a_second_person_signs_where_the_house_asks_for_one(close: Close, pool: Pool, database_url: str) -> None:
    fay, dora = await hire(pool, "fay", "finance"), await hire(pool, "dora", "approver")
    two = {"ABACUS_CLOSES_NEED_APPROVAL": "true", "ABACUS_TOKEN": fay}
    assert (await close("--check", "--json", **two)).json["needs_approval"]
    asked = (await close("--json", **two)).json["approval"]
    assert (asked["status"], asked["document"]["files"].keys()) == (
        "pending",
        {"account.json", "accounts.toml", f"journal-{JUNE}.csv", f"rollforward-{JUNE}.csv"},
    )
    assert await MonthCloses(pool).all() == []

    async def approve(token: str) -> Ran:
        words = ("approvals", "approve", asked["approval_id"], "--digest", asked["digest"])
        return await abacus(*words, env={"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": token})

    assert (await approve(fay)).code == 2
    approved = await approve(dora)
    assert approved.code == 0, approved.err
    (signed,) = await MonthCloses(pool).all()
    assert (signed.act, signed.signed_by, signed.files) == ("closed", "person:dora", asked["document"]["files"])
    log = await pool.fetchrow(
        "select actor, details ->> 'approved_by' as by from audit_log where details ->> 'approved_by' is not null"
    )
    assert tuple(log) == ("person:fay", "person:dora")


async def test_messages_have_to_be_accounted_for(close: Close) -> None:
    ran = await close(without="--reconciled")
    assert (ran.code, ran.err.startswith("abacus: reconcile: not shown; run `abacus reconcile --from 2026-05-31")) == (
        1,
        True,
    )
    assert (await close("--accept", "reconcile", "--reason", "Kafka is new", without="--reconciled")).code == 0


async def test_a_month_that_is_not_over(close: Close) -> None:
    now = SystemClock().now()
    ran = await close(month=f"{now.year}-{now.month:02}")
    assert ran.code == 1
    assert "not-over: " in ran.err


@pytest.mark.parametrize(
    ("words", "without", "line"),
    [
        ([], "--month", "say which month: --month 2026-04; or --show"),
        ([], "--mapping", "no accounts of the journal are published; `abacus accounts publish` does that"),
        (
            ["--accept", "seal"],
            "",
            "--accept: 'seal' cannot be accepted; these can: exchange, expiry, quarantine, reconcile",
        ),
        (["--accept", "expiry"], "", "--accept needs a --reason; auditors read it"),
        (["--out", "/nowhere"], "", "--out: there is no directory /nowhere"),
        (["--mapping", "/nowhere/x"], "", "/nowhere/x: No such file or directory"),
        (["--reopen", "--reason", "x"], "", "2026-06 is not closed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
async def test_what_is_refused(close: Close, words: list[str], without: str, line: str) -> None:
    ran = await close(*words, without=without)
    assert (ran.code, ran.out, ran.err) == (2, "", f"abacus: {line}\n")


@pytest.mark.long
async def test_a_check_says_what_a_close_would_and_signs_nothing(
    close: Close, pool: Pool, database_url: str, tmp_path: Path
) -> None:
    assert (await close("--check")).out == "2026-06 can be signed\n"
    good = await close("--check", "--json")
    found = good.json
    (books,), (tie,) = found.pop("movements"), found.pop("ties")
    assert (books["country"], books["opening"], books["issued"], books["closing"]) == ("SG", 0, 144, 144)
    assert (tie["closing"], tie["ties"]) == (144, "yes")
    assert found.pop("journal") == [{"currency": "SGD", "entries": 1, "debit": "1.15", "credit": "1.15"}]
    nothing: dict[str, Any] = {"needs_approval": False, "seal": 1, "obstacles": [], "benefits": []}
    assert (good.code, found) == (0, {"month": JUNE, "may_be_signed": True, **nothing})
    without = await close("--check", "--json", without="--reconciled")
    assert (without.code, without.json["may_be_signed"]) == (1, False)
    assert [(each["name"], each["left"]) for each in without.json["obstacles"]] == [("reconcile", True)]
    accepted = await close("--check", "--json", "--accept", "reconcile", "--reason", "so", without="--reconciled")
    assert (accepted.code, accepted.json["obstacles"][0]["left"]) == (0, False)
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = balance + 1")
    tampered = await close("--check")
    assert (tampered.code, "not-verified" in tampered.err) == (1, True)
    assert await pool.fetchval("select count(*) from month_close") == 0
    assert {each.name for each in tmp_path.iterdir()} == {"accounts.toml", "account.json"}  # noqa: ASYNC240  # two files
