"""Crossings: what a worker does beyond its process, under the name of the contract that it keeps. Pure.

A statement is named by its verb and its tables, and a commit by what was written before it; a call of a queue or of the
broker by what it asks. No name holds a module or a function.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY


class Side(StrEnum):
    """The two sides of a crossing."""

    BEFORE = "before"
    AFTER = "after"


class Stage(StrEnum):
    """The stages of a worker's work, in about the order of a message's way."""

    RECEIVE = "receive"
    HEARTBEAT = "heartbeat"
    DECIDE = "decide"
    SEND = "award send"
    RETRY = "retry send"
    QUARANTINE = "quarantine write"
    BEGIN = "begin"
    CLAIM = "claim"
    LOCK = "lock"
    INSERT = "insert"
    COMMIT = "commit"
    DELETE = "delete"
    PRODUCE = "produce"
    NOTICE = "notice"
    CURSOR = "cursor"
    OFFSET_COMMIT = "offset commit"
    ASK = "ask"
    JOIN = "join and leave"


# The first pattern that fits a crossing names its stage.
_STAGES: Final[Mapping[str, Stage]] = {
    "queue: receive *": Stage.RECEIVE,
    "queue: keep *": Stage.HEARTBEAT,
    "queue: give back *": Stage.HEARTBEAT,
    "queue: delete *": Stage.DELETE,
    f"queue: send {AWARD}": Stage.SEND,
    "queue: send *": Stage.RETRY,
    "queue: *": Stage.JOIN,
    "stream: read*": Stage.RECEIVE,
    "stream: publish*": Stage.PRODUCE,
    "stream: commit offsets": Stage.OFFSET_COMMIT,
    "stream: *": Stage.JOIN,
    "database: begin": Stage.BEGIN,
    "database: commit*": Stage.COMMIT,
    "database: rollback*": Stage.COMMIT,
    "database: insert quarantine*": Stage.QUARANTINE,
    "database: insert notice*": Stage.NOTICE,
    "database: insert *claim*": Stage.CLAIM,
    "database: update *cursor*": Stage.CURSOR,
    "database: lock*": Stage.LOCK,
    "database: *generation_to_post_in*": Stage.LOCK,
    "database: read *": Stage.DECIDE,
    "database: insert *": Stage.INSERT,
    "database: update *": Stage.INSERT,
    "database: delete *": Stage.INSERT,
    "database: *": Stage.JOIN,
    "http: *": Stage.ASK,
}

# By clocks of their own: published documents that are looked for, presence, charts, depths of queues. No message waits
# for these, and whether a worker comes by while it has work in hand is a matter of seconds.
_BESIDE: Final = (
    "database: read rate_card*",
    "database: read generation",
    "database: read transfer_[0-9]*",
    "database: read event_source*",
    "database: read counter_definition*",
    "database: read contact_policy",
    "database: read journey",
    "database: read journey, newest",
    "database: read journey_deed, action",
    "database: read journey_heard",
    "database: read journey_behind",
    "database: read pack",
    "database: read pack_aside*",
    "database: * exchange_partner_*",
    "database: * exchange_break*",
    "database: read exchange_bill",
    "database: * exchange_timeline*",
    "database: read exchange_programme*",
    "database: read region_edition",
    "database: read country_map*",
    "database: delete member_region",
    "database: read segment_version*",
    "database: read member_number_erased*",
    "database: read offer",
    "database: read offer_number, offer",
    "database: read offer_spent*",
    "database: read offer_pool, offer_code_batch, offer_code_use",
    "database: read offer_reservation, action",
    "database: read reward",
    "database: read reward_code, reward, reward_pool",
    "database: read counter_setting",
    "database: read downstream*",
    "database: * worker_process*",
    "database: * queue_failure*",
    "database: * points_pulse*",
    "database: read nothing",
    "database: set",
    "queue: GetQueueAttributes *",
)

# Letting a caller in, and noting that it was there: nothing of its request is in hand yet, or any more.
_AT_THE_DOOR: Final = (
    *("database: * partner", "database: * partner_key", "database: * partner_request"),
    *("database: read person", "database: read person_token"),
    "database: *rate_limit*",
)

_QUEUES: Final = (CAMPAIGN_RETRY, AWARD, EXPIRY, RETRY)  # one ends as another does
_CALLS: Final = {
    "SendMessageBatch": "send",
    "ReceiveMessage": "receive",
    "DeleteMessageBatch": "delete",
    "ChangeMessageVisibilityBatch": "keep",
}

_WRITE: Final = re.compile(
    r"\b(insert) into (?:\w+\.)?(\w+)"
    r"|\b(update) (?:\w+\.)?(\w+)(?= (?:as )?(?:\w+ )?set\b)"
    r"|\b(delete) from (?:\w+\.)?(\w+)"
)
_FROM: Final = re.compile(r"\b(?:from|join) (?!lateral\b)(?:\w+\.)?([a-z]\w*)(?![\w(.])")
_LOCKS: Final = re.compile(r" for (no key )?update| for (key )?share")
_FUNCTION: Final = re.compile(r"\bselect (\w+)\(")


def stage_of(crossing: str) -> Stage:
    """Raises `LookupError` for a crossing that no pattern fits."""
    for pattern, stage in _STAGES.items():
        if fnmatchcase(crossing, pattern):
            return stage
    raise LookupError(f"no stage for {crossing}")


def is_beside(crossing: str) -> bool:
    """Whether it is on no message's way."""
    return any(fnmatchcase(crossing, pattern) for pattern in (*_BESIDE, *_AT_THE_DOOR))


def statement(sql: str, written: Iterable[str] = ()) -> str:
    """The crossing of a statement, in a transaction that wrote that before."""
    told = " ".join(re.sub(r"--[^\n]*", "", sql).lower().replace('"', "").split())
    first = told.split(" ", 1)[0].rstrip(";")
    if first in {"commit", "rollback"}:
        return f"database: {' of '.join(filter(None, [first, ', '.join(dict.fromkeys(written))]))}"
    writes = writes_of(told)
    if writes:
        return f"database: {', '.join(writes)}"
    if first not in {"select", "with"}:
        return f"database: {first}"
    tables = ", ".join(dict.fromkeys(_FROM.findall(told)))
    if not tables:
        function = _FUNCTION.search(told)
        return f"database: call {function[1]}" if function else "database: read nothing"
    return f"database: {'lock' if _LOCKS.search(told) else 'read'} {tables}"


def writes_of(sql: str) -> list[str]:
    """The writes of a statement: each its verb and its table."""
    told = " ".join(sql.lower().replace('"', "").split())
    return list(dict.fromkeys(" ".join(filter(None, match.groups())) for match in _WRITE.finditer(told)))


def queue_call(operation: str, asked: Mapping[str, Any]) -> str:
    queue = next((name for name in _QUEUES if asked.get("QueueUrl", "").endswith(name)), "queue")
    call = _CALLS.get(operation, operation)
    if call == "keep" and not any(each["VisibilityTimeout"] for each in asked["Entries"]):
        call = "give back"
    return f"queue: {call} {queue}"


def point(crossing: str, side: Side) -> str:
    return f"{crossing} {side}"


def crossing_of(named: str) -> str:
    """The crossing of a point."""
    return named.rpartition(" ")[0]
