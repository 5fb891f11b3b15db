"""Effects of campaigns are accounted for: what was decided is done, waits or was refused, and is in the ledger."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from abacus.oversight.reconcile.decide.account import Finding
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.oversight.reconcile.reconciling import account, as_owner, done, published
from tests.support.commands import abacus
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

KEY = "campaign:market:transactions:transaction.completed:rides:T-{}:1".format


async def decided(house: House) -> None:
    """Two rides of a member, and one of another: three awards are posted, one waits."""
    steps = [{"do": [{"award": {"points": 50}}]}, {"at": 2, "do": [{"award": {"points": 500}, "after": "2h"}]}]
    await run_campaign(house, steps=steps)
    await run_campaign(house, name="nobody", when={"operator": "eq", "lhs": "var.vertical", "rhs": "food"}, steps=steps)
    rides = [(1, "ann"), (2, "ann"), (3, "bob")]
    await house.produce([completed(number, member_id=member, occurred_at=just_now()) for number, member in rides])
    async with house.running("calculator", "awarder", "relay", "campaigner"):
        await until(lambda: done(house, transfers=6, held=0))
        await until(lambda: published(house))


@pytest.mark.long
async def test_what_was_decided_comes_out(house: House) -> None:
    await decided(house)
    report = await account(house)
    assert report.findings == []
    assert report.comes_out
    assert [tuple(each) for each in report.actions] == [("market", "award", 4, 3, 1, 0, 0)]
    assert {name: (line.verdicts, line.points) for name, line in report.campaigns.items()} == {
        "market": ({Verdict.AWARDED: 3}, 150)
    }
    assert [(each.origin, each.transfers, each.points) for each in report.posted] == [
        ("campaigns", 3, 150),
        ("messages of the window", 3, 60),
    ]
    sums = {each.what: (each.counted, each.other) for each in report.sums}
    assert sums["actions of campaigns"] == (4, 4)
    assert sums["events of campaigns since they began"] == (3, 3)
    assert sums["points of campaigns since they began"] == (650, 650)


TRANSFER_GONE = (f"delete from claim where key = '{KEY(1)}'", f"delete from transfer where key = '{KEY(1)}'")
HELD = f"""
insert into quarantine (id, stage, origin, reason, detail, body, key, fingerprint, status, set_aside_at)
select 'x', 'award', 'x', 'invalid', 'x', '', key, document ->> 'fingerprint', 'held', now()
from action where key = '{KEY(1)}'
"""
GHOST = "campaign:ghost:rides:ride:T-9:1"
OF_NOBODY = f"""
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    explanation, hash)
values ('eve', 'GRP', 1, 'earn', 5, 5, '{GHOST}', 'SG', now(), now(), '{{}}', '');
insert into claim values ('{GHOST}', 'eve', 'GRP', 1, '00')
"""
OF_MARKET, OF_ALL = "points of the campaign market", "points of campaigns since they began"
TOUCHED = ("claim", "transfer", "quarantine", "action", "campaign_claim", "campaign_sum")

# Statements of somebody with the owner's rights, and the findings that follow: kind, name.
BROKEN: dict[str, tuple[Sequence[str], set[tuple[Finding, str]]]] = {
    "an award is not in the ledger": (TRANSFER_GONE, {(Finding.MISSING, KEY(1)), (Finding.UNKNOWN, KEY(1))}),
    "an award was set aside": ((*TRANSFER_GONE, HELD), {(Finding.UNKNOWN, KEY(1))}),
    "an award has other points": (
        [f"update transfer set points = 51 where key = '{KEY(1)}'"],
        {(Finding.OTHER_POINTS, KEY(1)), (Finding.UNKNOWN, KEY(1))},
    ),
    "a transfer that no campaign decided": ([OF_NOBODY], {(Finding.WITHOUT_SOURCE, GHOST)}),
    "an action is gone, and its claim is there": (
        [f"delete from action where key = '{KEY(1)}'"],
        {(Finding.SUM, OF_MARKET), (Finding.SUM, OF_ALL)},
    ),
    "an action and its claim are gone": (
        [
            f"delete from action where key = '{KEY(1)}'",
            f"delete from campaign_claim where key || ':1' = '{KEY(1)}'",
        ],
        {
            (Finding.WITHOUT_SOURCE, KEY(1)),
            (Finding.SUM, OF_MARKET),
            (Finding.SUM, OF_ALL),
            (Finding.SUM, "events of the campaign market"),
            (Finding.SUM, "events of campaigns since they began"),
        },
    ),
    "a sum has other points": (
        ["update campaign_sum set points = points + 1 where outcome = 'done'"],
        {(Finding.SUM, OF_MARKET), (Finding.SUM, OF_ALL)},
    ),
    "an action is done and refused": (
        ["update action set refused_at = now() where done_at is not null"],
        {(Finding.SUM, "actions of campaigns")},
    ),
    "nothing": ([], set()),
}


@pytest.mark.long
async def test_what_is_broken_is_named(house: House, database_url: str) -> None:
    """One thing after another, and each is mended before the next."""
    await decided(house)
    await as_owner(database_url, *(f"create table kept_{name} as table {name}" for name in TOUCHED))
    for name, (statements, expected) in BROKEN.items():
        await as_owner(database_url, *statements)
        report = await account(house)
        assert {(each.what, each.name) for each in report.findings} == expected, name
        assert report.comes_out == (not expected), name
        await as_owner(database_url, *(f"delete from {each}; insert into {each} table kept_{each}" for each in TOUCHED))


@pytest.mark.long
async def test_an_award_that_is_sent_again_is_posted_once(house: House, database_url: str) -> None:
    """As after a crash between the queue and the database."""
    await decided(house)
    await as_owner(database_url, "update action set done_at = null")
    async with house.running("awarder", "campaigner"):
        await until(lambda: _sent(house, 3))
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        queue = await SqsQueue.find(client, house.settings.queue_prefix + AWARD)
        async with house.running("awarder"):

            async def taken() -> bool:
                return await queue.holds() == 0

            await until(taken)
    report = await account(house)
    assert (report.findings, await house.transfers()) == ([], 6)
    assert report.campaigns["market"].verdicts == {Verdict.AWARDED: 3}


@pytest.mark.long
async def test_an_award_without_a_trace_is_where_it_can_still_be(house: House) -> None:
    await run_campaign(house, steps=[{"do": [{"award": {"points": 50}}]}])
    await house.produce([completed(1, member_id="ann", occurred_at=just_now())])
    async with house.running("campaigner"):
        await until(lambda: _sent(house, 1))
    for later in (timedelta(), timedelta(hours=1)):
        assert (await account(house, later=later)).campaigns["market"].verdicts == {Verdict.IN_FLIGHT: 1}
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        queue = await SqsQueue.find(client, house.settings.queue_prefix + AWARD, wait_s=5)
        [envelope] = await queue.receive()
        await queue.delete([envelope])
    report = await account(house)
    assert report.campaigns["market"].verdicts == {Verdict.MISSING: 1}
    assert (Finding.MISSING, KEY(1)) in {(each.what, each.name) for each in report.findings}


@pytest.mark.long
async def test_an_erased_member_is_accounted_for(house: House) -> None:
    """What waited for the member is refused; the points that were decided are known all the same."""
    await decided(house)
    erased = await abacus("members", "erase", "ann", "--reason", "asked to", "--yes", env=house.environment())
    assert erased.code == 0, erased.err
    report = await account(house)
    assert report.findings == []
    assert [tuple(each) for each in report.actions] == [("market", "award", 4, 3, 0, 1, 0)]
    assert report.campaigns["market"].verdicts == {Verdict.AWARDED: 3}


async def _sent(house: House, awards: int) -> bool:
    return int(await house.pool.fetchval("select count(done_at) from action")) == awards
