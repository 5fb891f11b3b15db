"""A message without a trace and a partner's request are each given the verdict that their rows support."""

from datetime import timedelta

import pytest

from abacus.oversight.reconcile.decide.account import Finding
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.oversight.reconcile.reconciling import account, is_read
from tests.support.house import House, completed, until

NOW, TOMORROW, IN_TWO_DAYS = timedelta(), timedelta(hours=20), timedelta(days=2)


# The queue that holds something, when reconciling looks, and the verdict on a message without a trace.
NO_TRACE: dict[str, tuple[str | None, timedelta, Verdict]] = {
    "sent just now": (None, NOW, Verdict.IN_FLIGHT),
    "nowhere": (None, TOMORROW, Verdict.MISSING),
    "on the award queue": (AWARD, TOMORROW, Verdict.IN_FLIGHT),
    "in retry": (RETRY, TOMORROW, Verdict.IN_RETRY),
    "in retry for longer than that can be": (RETRY, IN_TWO_DAYS, Verdict.MISSING),
    "among the dead letters": (f"{AWARD}-dlq", TOMORROW, Verdict.DEAD_LETTER),
}


@pytest.mark.long
@pytest.mark.parametrize(("queue", "later", "expected"), NO_TRACE.values(), ids=NO_TRACE)
async def test_what_has_no_trace_is_where_it_can_still_be(
    house: House, queue: str | None, later: timedelta, expected: Verdict
) -> None:
    await house.produce([completed(1)])
    assert (await account(house, later=TOMORROW)).verdicts == {Verdict.IN_FLIGHT: 1}  # nobody has read it
    async with house.running("calculator"):
        await until(lambda: is_read(house))
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        award_queue = await SqsQueue.find(client, house.settings.queue_prefix + AWARD, wait_s=5)
        [envelope] = await award_queue.receive()
        await award_queue.delete([envelope])
        if queue is not None:
            await (await SqsQueue.find(client, house.settings.queue_prefix + queue)).send([envelope.body])
    report = await account(house, later=later)
    assert report.verdicts == {expected: 1}
    assert report.on_the_way == (expected in {Verdict.IN_FLIGHT, Verdict.IN_RETRY})
    assert report.comes_out == (report.on_the_way == 1)


PARTNER_AWARD = """
insert into partner_award (award_id, key, partner_id, member_id, program, country, points, occurred_at, expires_on,
    activity, fingerprint, explanation, asked_at, queued_at)
values (gen_random_uuid(), 'api:acme:' || $1, 'acme', 'bob', 'GRP', 'SG', 100, now(), '2027-01-31', false, 'aa', '{}',
    now(), case when $2 then now() end)
"""


REJECTION = """
insert into rejection (key, member_id, program, points, fingerprint, reason, detail, rejected_at)
values ('api:acme:' || $1, 'bob', 'GRP', 100, $2, 'budget-exhausted', '', now())
"""


ITEM = """
insert into quarantine (id, stage, origin, reason, detail, body, key, fingerprint, status, set_aside_at)
values ($1, 'award', '', 'out-of-range', '', '', 'api:acme:' || $1, 'aa', $2, now())
"""


CLAIM = "insert into claim values ('api:acme:' || $1, 'bob', 'GRP', 7, $2)"


# Whether the queue took the award, the only other row about it, and the verdict on it.
ASKS: dict[str, tuple[bool, tuple[str, str] | None, Verdict]] = {
    "rejected": (True, (REJECTION, "aa"), Verdict.REJECTED),
    "rejected for other facts": (True, (REJECTION, "bb"), Verdict.MISSING),
    "held": (True, (ITEM, "held"), Verdict.QUARANTINED),
    "replayed, and gone": (True, (ITEM, "replayed"), Verdict.MISSING),
    "claimed for nothing": (True, (CLAIM, "aa"), Verdict.MISSING),
    "never sent": (False, None, Verdict.NOT_ACCEPTED),
    "gone": (True, None, Verdict.MISSING),
}


async def test_the_verdict_on_each_award_of_a_partner(house: House) -> None:
    await house.produce([completed(1)])
    for name, (queued, written, _) in ASKS.items():
        await house.pool.execute(PARTNER_AWARD, name, queued)
        if written is not None:
            statement, value = written
            await house.pool.execute(statement, name, value)
    report = await account(house)
    expected = [verdict for _, _, verdict in ASKS.values()]
    assert report.asks == {verdict: expected.count(verdict) for verdict in expected}
    missing = {f"api:acme:{name}" for name, (_, _, verdict) in ASKS.items() if verdict is Verdict.MISSING}
    assert {(each.what, each.name, each.where) for each in report.findings} == {
        (Finding.MISSING, key, "asked for by acme") for key in missing
    }
