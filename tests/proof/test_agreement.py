"""Verifying holds, allowances and approvals on Postgres: what is sound is clean, and every tampering is named."""

from typing import Final

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import award_id
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from abacus.proof.parts import Span
from abacus.proof.processes import Helpers
from abacus.proof.verify import verify
from tests.proof.busy import CLOCK, busy
from tests.proof.reported import lines
from tests.support.commands import abacus
from tests.support.forgetting import eraser, noted
from tests.support.sealing import RECHECK, tampering
from tests.support.slices import of_parts

OPEN, USED, FREE = (award_id(f"api:acme:{name}") for name in ("open", "used", "free"))
LARGE, BACK = award_id("adjust:large"), award_id("ops:back")
UNLOCKED: Final = "alter table approval drop constraint approval_second_person_check;"

# Statements of somebody who can switch triggers off, and the lines that verifying reports.
TAMPERINGS: Final[dict[str, tuple[str, list[str]]]] = {
    "held points that no hold explains": (
        "update account set held = 40 where member_id = 'bob'",
        [
            "bob GRP #14: the account's held is 40, its transfers come to 11",
            "bob GRP #14: the account's held is 40, its open holds come to 11",
        ],
    ),
    "a hold that is gone": (
        f"delete from hold where hold_id = '{OPEN}'",
        [
            f"bob GRP #4: the hold {OPEN} that it explains is not there",
            "bob GRP #14: the account's held is 11, its open holds come to 0",
        ],
    ),
    "a hold of other points": (
        f"update hold set points = 5 where hold_id = '{OPEN}'",
        [
            f"bob GRP #4: the hold {OPEN} has the points 5, it explains 11",
            "bob GRP #14: the account's held is 11, its open holds come to 5",
        ],
    ),
    "a hold that lasts longer": (
        f"update hold set until = until + interval '1 day' where hold_id = '{OPEN}'",
        [f"bob GRP #4: the hold {OPEN} has the until 2026-06-03 12:00:00+00:00, it explains 2026-06-02 12:00:00+00:00"],
    ),
    "a hold that is an exchange's": (
        f"update hold set until = null, settled_by = 'exchange:skymiles' where hold_id = '{OPEN}'",
        [
            f"bob GRP #4: the hold {OPEN} has the until None, it explains 2026-06-02 12:00:00+00:00",
            f"bob GRP #4: the hold {OPEN} has the settled_by exchange:skymiles, it explains None",
        ],
    ),
    "a hold that is open again": (
        f"update hold set status = 'open', settled_seq = null where hold_id = '{USED}'",
        [
            f"bob GRP #7: the hold {USED} has the status open, it explains captured",
            f"bob GRP #7: the hold {USED} has the settled_seq None, it explains 7",
            "bob GRP #14: the account's held is 11, its open holds come to 23",
        ],
    ),
    "a hold that is settled by nothing": (
        f"update hold set status = 'released', settled_seq = 9 where hold_id = '{OPEN}'",
        [
            f"bob GRP #14: the hold {OPEN} is released, and no transfer explains it",
            "bob GRP #14: the account's held is 11, its open holds come to 0",
        ],
    ),
    "a hold that was settled otherwise": (
        f"update hold set status = 'captured' where hold_id = '{FREE}'",
        [f"bob GRP #8: the hold {FREE} has the status captured, it explains released"],
    ),
    "an invented hold": (
        (
            f"insert into hold select member_id, '{LARGE}', program, country, 7, until, status, held_by, 2, null"
            f" from hold where hold_id = '{OPEN}'"
        ),
        [
            f"bob GRP #14: no transfer explains that the hold {LARGE} was placed",
            "bob GRP #14: the account's held is 11, its open holds come to 18",
        ],
    ),
    "a hold of nobody": (
        f"update hold set member_id = 'carl' where hold_id = '{OPEN}'",
        [
            f"bob GRP #4: the hold {OPEN} that it explains is not there",
            "bob GRP #14: the account's held is 11, its open holds come to 0",
            f"carl GRP #4: the hold {OPEN} is of an account without transfers",
        ],
    ),
    "a hold in another program": (
        f"update hold set program = 'OVO' where hold_id = '{OPEN}'",
        [
            f"bob GRP #4: the hold {OPEN} that it explains is not there",
            "bob GRP #14: the account's held is 11, its open holds come to 0",
            f"bob OVO #4: the hold {OPEN} is of an account without transfers",
        ],
    ),
    "points of a budget that were not used": (
        of_parts("update allowance set used = 0, used_that_day = 0"),
        [
            "partner acme: its used points are 0, its transfers come to 40",
            "partner acme: its used points on 2026-06-01 are 0, its transfers come to 40",
        ],
    ),
    "a budget that is used up by nothing": (
        of_parts("update allowance set used = used + 1"),
        ["partner acme: its used points are 41, its transfers come to 40"],
    ),
    "a day that begins anew": (
        of_parts("update allowance set day = day - 1, used_that_day = 0"),
        ["partner acme: its last day is 2026-05-31, but it has transfers of 2026-06-01"],
    ),
    "a member's day that begins anew": (
        "update allowance_member set used = 0",
        ["partner acme: the points that it gave bob on 2026-06-01 are 0, its transfers come to 40"],
    ),
    "a member's day that is gone": (
        "delete from allowance_member",
        ["partner acme: the points that it gave bob on 2026-06-01 are 0, its transfers come to 40"],
    ),
    "a member's day that was not": (
        "insert into allowance_member values ('eve', 'acme', '2026-05-05', 5)",
        ["partner acme: the points that it gave eve on 2026-05-05 are 5, its transfers come to 0"],
    ),
    "a partner without limits": (
        "delete from allowance",
        [
            "partner acme: it has no allowance, so nothing limits it",
            "partner acme: its limits is null, the log has [null, null, null, 1000]",
        ],
    ),
    "an award of other points than its partner asked for": (
        "update partner_award set points = 5 where key = 'api:acme:g'",
        ["bob GRP #2: the partner asked for it with the points 5, it has 50"],
    ),
    "an award of somebody else than its partner asked for": (
        "update partner_award set member_id = 'eve' where key = 'api:acme:g'",
        ["bob GRP #2: the partner asked for it with the member_id eve, it has bob"],
    ),
    "an award that its partner never asked for": (
        "delete from partner_award",
        ["bob GRP #2: what the partner asked for is not there"],
    ),
    "an approval of other points": (
        f"update approval set document = replace(document, '400', '40') where approval_id = '{LARGE}'",
        [
            f"bob GRP #11: it is not what the approval {LARGE} lets happen",
            f"approval {LARGE}: its digest is not that of what it says",
        ],
    ),
    "an approval of other points, digest and all": (
        (
            "update approval set document = replace(document, '400', '40'), digest = encode(sha256(convert_to('"
            "[\"adjustment\",\"adjust:large\",\"SG\",' || to_json(replace(document, '400', '40'))::text || ']',"
            f" 'utf8')), 'hex') where approval_id = '{LARGE}'"
        ),
        [
            f"bob GRP #11: it is not what the approval {LARGE} lets happen",
            f"approval {LARGE}: the log does not have that person:ben approved it as it is",
        ],
    ),
    "an approval of nothing that can be read": (
        f"update approval set document = '[400]' where approval_id = '{LARGE}'",
        [
            f"bob GRP #11: it is not what the approval {LARGE} lets happen",
            f"approval {LARGE}: its digest is not that of what it says",
        ],
    ),
    "an approval by its author": (
        f"{UNLOCKED} update approval set decided_by = asked_by where approval_id = '{LARGE}'",
        [
            "bob GRP #11: ben approved it, it says, and no approval of ben lets it happen",
            f"approval {LARGE}: person:ann asked for it and approved it",
        ],
    ),
    "an approval by a login": (
        f"{UNLOCKED} update approval set decided_by = 'login:ben' where approval_id = '{LARGE}'",
        [
            "bob GRP #11: ben approved it, it says, and no approval of ben lets it happen",
            f"approval {LARGE}: it is done, and no person decided: login:ben",
        ],
    ),
    "an approval by nobody": (
        f"{UNLOCKED} update approval set decided_by = null where approval_id = '{LARGE}'",
        [
            "bob GRP #11: ben approved it, it says, and no approval of ben lets it happen",
            f"approval {LARGE}: it is done, and no person decided: nobody",
        ],
    ),
    "an approver who does not exist": (
        "delete from person where person_id = 'ben'",
        [
            f"approval {id_}: person:ben approved it, who is not one of the people"
            for id_ in sorted(map(str, (LARGE, BACK, award_id("adjust:too-much"))))
        ]
        + ["person ben: the log has it, and it is not there"],
    ),
    "an approval that the log does not know": (
        f"delete from audit_log where subject = 'approval:{LARGE}' and deed = 'approve'",
        [f"approval {LARGE}: the log does not have that person:ben approved it as it is"],
    ),
    "an author who is a login": (
        f"update approval set asked_by = 'login:ann' where approval_id = '{LARGE}'",
        [f"approval {LARGE}: login:ann asked for it, which is a login and no person"],
    ),
    "an approval that was rejected": (
        f"update approval set status = 'rejected' where approval_id = '{BACK}'",
        ["bob GRP #14: ben approved it, it says, and no approval of ben lets it happen"],
    ),
    "an approval of a reversal, of other points": (
        f"update approval set document = replace(document, '200', '20') where approval_id = '{BACK}'",
        [
            f"bob GRP #14: it is not what the approval {BACK} lets happen",
            f"approval {BACK}: its digest is not that of what it says",
        ],
    ),
    "an approval of something else": (
        (
            "insert into approval (approval_id, kind, subject, summary, document, digest, asked_by, asked_at, status,"
            f" decided_by) select '{OPEN}', kind, 'adjust:ghost', summary, document, encode(sha256(convert_to('"
            "[\"adjustment\",\"adjust:ghost\",null,' || to_json(document)::text || ']', 'utf8')), 'hex'), asked_by,"
            f" asked_at, status, decided_by from approval where approval_id = '{LARGE}'"
        ),
        [
            f"approval {OPEN}: it is done, and nothing is posted under adjust:ghost",
            f"approval {OPEN}: the log does not have that person:ben approved it as it is",
        ],
    ),
    "movements that the log does not know": (
        "delete from audit_log where deed in ('adjust', 'reverse') and subject = 'member:bob'",
        [f"bob GRP #{seq}: the log has no entry of it" for seq in (3, 9, 10, 11, 12, 13, 14)],
    ),
    "a movement of other points than the log has": (
        (
            "update audit_log set details = replace(details::text, '20', '2')::json"
            " where details::text like '%adjust:small%'"
        ),
        ["bob GRP #10: the log has it with 2 points, approved by None; it has 20, approved by None"],
    ),
    "a large movement that nobody approved": (
        (
            "update audit_log set details = replace(details::text, '100', '89')::json"
            " where details::text like '%adjust:most%'"
        ),
        ["bob GRP #12: nobody approved its 90 points; more than 89 take a second person"],
    ),
}


@pytest.mark.long
async def test_a_busy_ledger_is_clean(pool: Pool, database_url: str) -> None:
    await busy(pool)
    alone = await verify(pool, RECHECK)
    with Helpers(database_url, 2) as helpers:
        assert await verify(pool, RECHECK, helpers=helpers) == alone
    assert (lines(alone), alone.accounts) == ([], 2)
    assert lines(await verify(pool, RECHECK, span=Span("bob", "bob"))) == []


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_what_is_tampered_with_is_found_and_named(pool: Pool, database_url: str, name: str) -> None:
    await busy(pool)
    statements, expected = TAMPERINGS[name]
    async with tampering(database_url) as superuser:
        await superuser.execute(statements)
    assert lines(await verify(pool, RECHECK)) == expected


async def test_what_was_set_aside_is_counted(pool: Pool, database_url: str) -> None:
    """Whoever adds it, and however often the same comes again; an erasure takes out of the count what it deletes."""
    fault = SetAside(Reason.INVALID, "not a number")
    items = [Item.of(Stage.TRANSACTION, "t:0:1", b'{"member_id":"%s"}' % who, fault) for who in (b"bob", b"eve")]
    store = QuarantineStore(pool, CLOCK)
    for each in ([items[0]], items, items[1:]):
        await store.add(each)
    assert lines(await verify(pool, RECHECK)) == []
    owner = await open_pool(database_url, size=1, role=None)
    try:
        await eraser(owner).erase("bob", by="alice", reason="asked to", also=noted)
        assert lines(await verify(pool, RECHECK)) == []
        assert await owner.fetchval("select count(*) from quarantine") == 1
    finally:
        await owner.close()
    async with tampering(database_url) as superuser:
        await superuser.execute("delete from quarantine")
    assert lines(await verify(pool, RECHECK)) == ["quarantine: it has 0 items, and 1 were set aside"]


async def test_an_erased_member_leaves_a_clean_ledger(pool: Pool, database_url: str) -> None:
    """Holds, days, approvals and entries of the log go on under the pseudonym, and agree as before."""
    await busy(pool)
    owner = await open_pool(database_url, size=1, role=None)
    try:
        erased = await eraser(owner).erase("bob", by="alice", reason="asked to", also=noted)
    finally:
        await owner.close()
    assert lines(await verify(pool, RECHECK)) == []
    async with tampering(database_url) as superuser:
        await superuser.execute("update hold set points = 1 where status = 'open'")
        await superuser.execute("update approval set digest = '' where kind = 'reversal'")
    assert lines(await verify(pool, RECHECK)) == [
        f"{erased.pseudonym} GRP #4: the hold {OPEN} has the points 1, it explains 11",
        f"{erased.pseudonym} GRP #14: the account's held is 11, its open holds come to 1",
        f"approval {BACK}: its digest is not that of what it says",
    ]


async def test_the_command_names_partners_and_approvals(pool: Pool, database_url: str) -> None:
    await busy(pool)
    async with tampering(database_url) as superuser:
        await superuser.execute(of_parts("update allowance set used = 1"))
        await superuser.execute("delete from audit_log where actor = 'person:ben'")
    ran = await abacus("ledger", "verify", "--processes", "1", "--json", env={"ABACUS_DATABASE_URL": database_url})
    faults = ran.json["faults"]
    assert (ran.code, ran.json["clean"]) == (1, False)
    assert {"partner": "acme", "what": "its used points are 1, its transfers come to 40"} in faults
    assert {
        "approval": str(LARGE),
        "what": "the log does not have that person:ben approved it as it is",
    } in faults
