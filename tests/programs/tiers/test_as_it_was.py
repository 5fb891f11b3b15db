"""Members as they were: balances, points on hold, the day of expiry and the tier, at any time in the past."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from abacus.core.sources import STREAM
from abacus.intake.partners.members import AccountAsOf, MemberReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Spend
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import MembershipStore
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.house import House
from tests.support.shop import register, shop

START = datetime(2026, 5, 1, tzinfo=UTC)


def at(hour: float) -> datetime:
    return START + timedelta(hours=hour)


async def post(
    pool: Pool, hour: int, points: int, *, expires_on: date, program: str = "GRP", lifetime: bool = False
) -> None:
    activity = True
    award = Award(
        f"txn:t:{program}-{hour}",
        "bob",
        program,
        "SG",
        TransferKind.EARN,
        points,
        at(hour),
        expires_on,
        activity,
        "ab" * 16,
        b"{}",
        STREAM,
        lifetime,
    )
    await PostgresLedger(pool, FixedClock(at(hour))).post([award])


async def move(pool: Pool, hour: int, kind: str, points: int, held: int) -> None:
    """A transfer with its explanation, as the ledger writes holds and spends."""
    await pool.execute(
        "insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at,"
        " posted_at, expires_on, explanation, hash)"
        " select member_id, program, seq + 1, $1, $2, balance_after + $2, $3, country, $4, $4, expires_on, $5::json, ''"
        " from transfer where member_id = 'bob' and program = 'GRP' order by seq desc limit 1",
        kind,
        points,
        f"api:acme:{hour}",
        at(hour),
        f'{{"points":{points},"held":{held}}}'.encode(),
    )


JULY, AUGUST = date(2026, 7, 31), date(2026, 8, 31)


@pytest.fixture
async def bob(pool: Pool) -> None:
    await post(pool, 1, 100, expires_on=JULY)
    await post(pool, 2, 50, expires_on=AUGUST)
    await MembershipStore(pool, FixedClock(at(3))).set(("bob", "GRP"), "silver", reason="test", actor="test")
    await post(pool, 4, 7, expires_on=JULY, program="OVO")
    await move(pool, 5, "hold", 0, 60)
    await move(pool, 6, "spend", -40, -60)  # the rest of the hold goes back
    await move(pool, 7, "hold", 0, 20)
    await move(pool, 8, "release", 0, -20)
    await move(pool, 9, "expire", -110, 5)  # an expiry names the points on hold then, and changes nothing of them
    await MembershipStore(pool, FixedClock(at(10))).set(("bob", "GRP"), "gold", reason="test", actor="test")


async def test_by_lots_the_day_is_the_accounts_and_not_the_last_lots(pool: Pool) -> None:
    """100 good until July, then 50 until August; the 100 are spent in the end."""
    await post(pool, 1, 100, expires_on=JULY, lifetime=True)
    await post(pool, 2, 50, expires_on=AUGUST, lifetime=True)
    spent = Spend("api:acme:1", "bob", "GRP", "SG", "0" * 16, 100, "a coffee", "acme", "partner:acme")
    await PostgresMoves(pool, FixedClock(at(3))).move([spent])
    days = [[each.expires_on for each in await MemberReader(pool).as_of("bob", at(hour))] for hour in (1, 2, 3)]
    assert days == [[JULY], [JULY], [AUGUST]]


OVO = AccountAsOf("OVO", "SG", 7, 0, "member", JULY)

# An hour, and the accounts as they were then.
HOURS: list[tuple[float, list[AccountAsOf]]] = [
    (0, []),
    (0.99, []),
    (1, [AccountAsOf("GRP", "SG", 100, 0, "member", JULY)]),
    (2.5, [AccountAsOf("GRP", "SG", 150, 0, "member", AUGUST)]),
    (3, [AccountAsOf("GRP", "SG", 150, 0, "silver", AUGUST)]),
    (4, [AccountAsOf("GRP", "SG", 150, 0, "silver", AUGUST), OVO]),
    (5, [AccountAsOf("GRP", "SG", 150, 60, "silver", AUGUST), OVO]),
    (6, [AccountAsOf("GRP", "SG", 110, 0, "silver", AUGUST), OVO]),
    (7, [AccountAsOf("GRP", "SG", 110, 20, "silver", AUGUST), OVO]),
    (8, [AccountAsOf("GRP", "SG", 110, 0, "silver", AUGUST), OVO]),
    (9, [AccountAsOf("GRP", "SG", 0, 0, "silver", None), OVO]),
    (99, [AccountAsOf("GRP", "SG", 0, 0, "gold", None), OVO]),
]


@pytest.mark.usefixtures("bob")
async def test_the_accounts_are_as_the_transfers_left_them(pool: Pool) -> None:
    reader = MemberReader(pool)
    for hour, expected in HOURS:
        assert list(await reader.as_of("bob", at(hour))) == expected, hour
    assert list(await reader.as_of("nobody", at(99))) == []


def shown(each: AccountAsOf) -> dict[str, Any]:
    return {
        "program": each.program,
        "balance": each.balance,
        "held": each.held,
        "pending": 0,
        "available": each.balance - each.held,
        "tier": each.tier,
        "expires_on": each.expires_on.isoformat() if each.expires_on else None,
    }


@pytest.mark.long
@pytest.mark.usefixtures("bob")
async def test_a_partner_asks_for_the_past(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house, countries=("SG",)))
        abroad = await opened.caller(await register(house, "other", countries=("ID",)))
        for hour, expected in HOURS:
            answer = await acme.get("/v1/members/bob", params={"as_of": at(hour).isoformat()})
            assert answer.status_code == 200, answer.text
            assert answer.json()["accounts"] == [shown(each) for each in expected], hour
            assert datetime.fromisoformat(answer.json()["as_of"]) == at(hour)
        assert "as_of" not in (await acme.get("/v1/members/bob")).json()
        refused = [
            await acme.get("/v1/members/bob", params={"as_of": "2099-01-01T00:00:00Z"}),
            await acme.get("/v1/members/bob", params={"as_of": "2026-05-01T00:00:00"}),
            await acme.get("/v1/members/nobody", params={"as_of": at(9).isoformat()}),
            await abroad.get("/v1/members/bob", params={"as_of": at(9).isoformat()}),
        ]
    kinds = [(each.status_code, each.json()["type"].removeprefix("/problems/")) for each in refused]
    assert kinds == [(422, "in-the-future"), (422, "invalid"), (404, "not-found"), (404, "not-found")]
    assert refused[0].json()["errors"][0]["pointer"] == "query/as_of"


COMMANDS: list[tuple[Sequence[str], str]] = [
    (["--as-of", "2099-01-01T00:00:00Z"], "abacus: --as-of: 2099-01-01T00:00:00Z is still to come\n"),
    (["--as-of", "yesterday"], "abacus: --as-of: 'yesterday' is not a time like 2026-05-01T00:00:00+08:00\n"),
]


@pytest.mark.usefixtures("bob")
async def test_an_operator_asks_for_the_past(database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    then = (await abacus("members", "show", "bob", "--as-of", "2026-05-01T13:00:00+08:00", "--json", env=env)).json
    assert then["as_of"] == at(5).isoformat()
    assert then["accounts"] == [shown(each) | {"country": each.country} for each in dict(HOURS)[5]]
    now = (await abacus("members", "show", "bob", "--json", env=env)).json
    assert (now["as_of"], [each["tier"] for each in now["accounts"]]) == (None, ["gold", "member"])
    table = (await abacus("members", "show", "bob", env=env)).out
    assert "Accounts of bob" in table
    for arguments, line in COMMANDS:
        ran = await abacus("members", "show", "bob", *arguments, env=env)
        assert (ran.code, ran.err) == (2, line)
