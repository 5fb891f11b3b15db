"""A crossing is named by what it asks of the other side, and each has its stage."""

from typing import Any

import pytest

from tests.reliability.chaos.crashes.crossing import Stage, is_beside, queue_call, stage_of, statement


@pytest.mark.parametrize(
    ("sql", "written", "crossing", "stage"),
    [
        ("BEGIN ISOLATION LEVEL REPEATABLE READ;", [], "database: begin", Stage.BEGIN),
        ("COMMIT;", [], "database: commit", Stage.COMMIT),
        ("COMMIT;", ["insert a", "update b", "insert a"], "database: commit of insert a, update b", Stage.COMMIT),
        ("select * from claim where key = any($1)", [], "database: read claim", Stage.DECIDE),
        ("select 1 from account a join hold using (x) for update of a", [], "database: lock account, hold", Stage.LOCK),
        ("select pg_try_advisory_lock($1)", [], "database: call pg_try_advisory_lock", Stage.JOIN),
        ("lock table account in share mode", [], "database: lock", Stage.LOCK),
        ("listen abacus_changed", [], "database: listen", Stage.JOIN),
        ("insert into claim (key) select unnest($1)", [], "database: insert claim", Stage.CLAIM),
        (
            "insert into slice_3.counter_row as r (n) values (1) on conflict do update set n = r.n",
            [],
            "database: insert counter_row",
            Stage.INSERT,
        ),
        ("update account a\n set balance = 1", [], "database: update account", Stage.INSERT),
        ("update relay_cursor set seq = 1", [], "database: update relay_cursor", Stage.CURSOR),
        (
            "with gone as (delete from notice returning *) insert into erasure select 1 from gone",
            [],
            "database: delete notice, insert erasure",
            Stage.INSERT,
        ),
        ("insert into quarantine values ($1)", [], "database: insert quarantine", Stage.QUARANTINE),
    ],
)
def test_statements(sql: str, written: list[str], crossing: str, stage: Stage) -> None:
    assert statement(sql, written) == crossing
    assert stage_of(crossing) is stage


def _seconds(*timeouts: int) -> dict[str, Any]:
    return {"Entries": [{"VisibilityTimeout": timeout} for timeout in timeouts]}


@pytest.mark.parametrize(
    ("operation", "queue", "more", "crossing", "stage"),
    [
        ("SendMessageBatch", "award", {}, "queue: send award", Stage.SEND),
        ("SendMessageBatch", "retry", {}, "queue: send retry", Stage.RETRY),
        ("SendMessageBatch", "campaign-retry", {}, "queue: send campaign-retry", Stage.RETRY),
        ("ReceiveMessage", "expiry", {}, "queue: receive expiry", Stage.RECEIVE),
        ("ChangeMessageVisibilityBatch", "award", _seconds(0, 30), "queue: keep award", Stage.HEARTBEAT),
        ("ChangeMessageVisibilityBatch", "award", _seconds(0, 0), "queue: give back award", Stage.HEARTBEAT),
        ("DeleteMessageBatch", "award", {}, "queue: delete award", Stage.DELETE),
        ("GetQueueUrl", "other", {}, "queue: GetQueueUrl queue", Stage.JOIN),
    ],
)
def test_calls_of_queues(operation: str, queue: str, more: dict[str, Any], crossing: str, stage: Stage) -> None:
    assert queue_call(operation, {"QueueUrl": f"http://queues/1/t-{queue}", **more}) == crossing
    assert stage_of(crossing) is stage


@pytest.mark.parametrize(
    ("crossing", "where"),
    [
        ("database: read rate_card, rate_card_withdrawal", "beside"),
        ("database: delete worker_process", "beside"),
        ("queue: GetQueueAttributes award", "beside"),
        ("database: read offer", "beside"),
        ("database: update partner_key", "beside"),
        ("database: commit of insert rate_limit, update rate_limit", "beside"),
        ("database: read offer_reservation", "on the way"),
        ("database: read reward_code", "on the way"),
        ("database: read partner_award", "on the way"),
        ("queue: receive award", "on the way"),
        ("database: read claim", "on the way"),
        ("database: commit of insert claim, insert transfer", "on the way"),
    ],
)
def test_what_no_message_waits_for(crossing: str, where: str) -> None:
    assert ("beside" if is_beside(crossing) else "on the way") == where


def test_what_is_no_crossing_has_no_stage() -> None:
    with pytest.raises(LookupError, match="no stage for nowhere"):
        stage_of("nowhere")
