"""A transfer is a partner's own by its source: a name is no proof. Others' transfers are shown in part."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from abacus.api.answers import transfer_for
from abacus.core.clock import SystemClock
from abacus.core.ids import award_id
from abacus.core.sources import Agent
from abacus.intake.partners.decide.partner import Partner
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Adjustment, Movement, Reserve
from abacus.ledger.types.port import Status
from abacus.ledger.types.transfer import Transfer
from tests.support.house import House
from tests.support.shop import award, register, shop

NAMESAKE: Final = Agent("acme", "person:acme")  # a person who is called like the partner
NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
HOLD: Final = award_id("ops:hold")


def kind(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["type"]).removeprefix("/problems/")


async def reverse(caller: httpx.AsyncClient, id_: str, key: str) -> httpx.Response:
    return await caller.post(f"/v1/transfers/{id_}/reverse", json={}, headers={"Idempotency-Key": key})


async def moved_by_namesake(house: House) -> None:
    """The person acme adds 20 points to Bob's and holds 10 of them."""
    account, clock = ("bob", "GRP", "SG"), SystemClock()
    movements: list[Movement] = [
        Adjustment(
            "adjust:1", *account, "f", 20, "Sorry", *NAMESAKE, None, expires_on=date(2027, 1, 31), lifetime=False
        ),
        Reserve("ops:hold", *account, "f", 10, "kept", *NAMESAKE, HOLD, clock.now() + timedelta(hours=1)),
    ]
    fates = await PostgresMoves(house.pool, clock).move(movements)
    assert [each.status for each in fates] == [Status.POSTED, Status.POSTED]


# The rights of a partner, and whether it is told the points of a member whose points it has not moved.
RIGHTS: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "none": ({"may_spend": False}, 404),
    "adjusting": ({"may_spend": False, "may_adjust": True}, 404),
    "reading": ({"may_spend": False, "may_read_members": True}, 200),
    "spending": ({"may_spend": True}, 200),
    "seeing": ({"may_spend": False, "may_see_others": True}, 200),
}


@pytest.mark.long
async def test_a_member_is_open_to_whom_it_is_given_and_who_moved_points_of_it(house: House) -> None:
    paths = ("bob", "bob/transfers", "bob/lots", "bob?as_of=2026-01-01T00:00:00Z")
    async with shop(house, "awarder") as opened:
        first = await opened.caller(await register(house))
        assert (await award(first, "a-1", Prefer="wait=10")).status_code == 201
        for name, (rights, expected) in RIGHTS.items():
            caller = await opened.caller(await register(house, name, **rights))
            assert [(await caller.get(f"/v1/members/{path}")).status_code for path in paths] == [expected] * 4, name
            assert kind(await caller.get("/v1/members/nobody")) == (404, "not-found")
            spent = await caller.post("/v1/members/bob/spend", json={"points": 1}, headers={"Idempotency-Key": "s"})
            assert spent.status_code == (201 if rights["may_spend"] else 403), name
            assert (await award(caller, "a-1", Prefer="wait=10")).status_code == 201
            assert (await caller.get("/v1/members/bob")).status_code == 200, f"{name}: it gave points now"


@pytest.mark.long
async def test_of_others_neither_key_nor_actor_nor_explanation(house: House) -> None:
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(await register(house))
        bits = await opened.caller(await register(house, "bits", may_spend=True))
        house_own = await opened.caller(await register(house, "desk", may_see_others=True))
        for number, caller in enumerate((acme, bits)):
            assert (await award(caller, f"a-{number}", Prefer="wait=10")).status_code == 201
        await moved_by_namesake(house)

        async def told(caller: httpx.AsyncClient) -> list[tuple[Any, ...]]:
            transfers = (await caller.get("/v1/members/bob/transfers")).json()["transfers"]
            lots = (await caller.get("/v1/members/bob/lots")).json()["lots"]
            said = [(each["key"], each["actor"], each["explanation"] is not None) for each in reversed(transfers)]
            return [*said, *(each["key"] for each in lots)]

        nothing = (None, None, False)
        mine, theirs = ("api:acme:a-0", None, True), ("api:bits:a-1", None, True)
        assert await told(acme) == [mine, nothing, nothing, nothing, "api:acme:a-0", None, None]
        assert await told(bits) == [nothing, theirs, nothing, nothing, None, "api:bits:a-1", None]
        by_hand = [("adjust:1", "acme", True), ("ops:hold", "acme", True)]
        assert await told(house_own) == [mine, theirs, *by_hand, "api:acme:a-0", "api:bits:a-1", "adjust:1"]

        listed = (await acme.get("/v1/members/bob/transfers")).json()["transfers"]
        for each in listed[:-1]:  # all but its own award
            assert kind(await reverse(acme, each["id"], "r-1")) == (403, "adjustments-not-allowed")
        assert (await reverse(acme, listed[-1]["id"], "r-2")).json()["points"] == -100


@pytest.mark.long
async def test_a_hold_belongs_to_the_source_that_placed_it(house: House) -> None:
    """A person called acme held points; the partner acme neither sees nor settles that hold."""
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(await register(house))
        assert (await award(acme, "a-1", Prefer="wait=10")).status_code == 201
        await moved_by_namesake(house)
        assert (await acme.get("/v1/members/bob/holds")).json()["holds"] == []
        for settle in ("capture", "release"):
            answer = await acme.post(f"/v1/members/bob/holds/{HOLD}/{settle}")
            assert kind(answer) == (404, "no-such-hold")
        own = await acme.post("/v1/members/bob/holds", json={"points": 5}, headers={"Idempotency-Key": "h-1"})
        (shown,) = (await acme.get("/v1/members/bob/holds")).json()["holds"]
        assert shown["hold_id"] == own.json()["hold_id"]
        assert (await acme.post(f"/v1/members/bob/holds/{shown['hold_id']}/capture")).status_code == 201


@pytest.mark.parametrize(
    ("key", "source", "actor", "own"),
    [
        ("api:acme:1", "partner:acme", "acme", True),
        ("api:acme:1", None, None, True),  # written before transfers named their source: by the key
        ("adjust:1", None, "acme", False),  # a person of that name
        ("ops:1", None, "acme", False),
        ("capture:5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33", None, "acme", False),
        ("api:acme-two:1", None, "acme", False),
        ("adjust:1", "person:acme", "acme", False),
        ("txn:rides:1", "stream", None, False),
    ],
)
def test_whose_a_transfer_is(key: str, source: str | None, actor: str | None, own: bool) -> None:  # noqa: FBT001  # a table
    transfer = Transfer(
        *(
            "bob",
            "GRP",
            1,
            TransferKind.ADJUST,
            5,
            5,
            key,
            "SG",
            NOW,
            NOW,
            date(2026, 12, 31),
            b"{}",
            "api:acme:0",
            actor,
        ),
        source=source,
        lifetime=False,
        vests_on=None,
        vests_at=None,
        format=CURRENT,
        hash=b"",
    )
    acme = Partner(
        partner_id="acme",
        name="Acme",
        fixed_points=True,
        computed_points=True,
        countries=(),
        card_scope=None,
        requests_per_minute=60,
        signing_secret=None,
        created_at=NOW,
        created_by="ann",
        disabled_at=None,
    )
    shown = transfer_for(transfer, acme)
    assert (shown["key"], shown["actor"]) == ((key, actor) if own else (None, None))
    assert (shown["explanation"] is not None) is own
    assert shown["reverses"] == "api:acme:0"  # a key of its own
    other = transfer_for(transfer, acme._replace(partner_id="bits"))
    assert (other["key"], other["reverses"]) == (None, None)
    assert transfer_for(transfer, acme._replace(partner_id="bits", may_see_others=True))["key"] == key


@pytest.mark.long
async def test_preferences_are_for_members_whom_the_partner_knows(house: House) -> None:
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(await register(house))
        bits = await opened.caller(await register(house, "bits"))
        assert (await award(acme, "a-1", Prefer="wait=10")).status_code == 201
        path = "/v1/members/bob/preferences"
        assert (await acme.put(path, json={"channels": []})).status_code == 200
        for answer in (await bits.put(path, json={"channels": ["sns"]}), await bits.get(path)):
            assert kind(answer) == (404, "not-found")
        assert kind(await acme.get("/v1/members/nobody/preferences")) == (404, "not-found")
        assert (await award(bits, "a-1", Prefer="wait=10")).status_code == 201
        assert (await bits.get(path)).json()["channels"] == []
