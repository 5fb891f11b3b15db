"""The IAM policies name the queues that there are, and give each worker no more than it does."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from abacus.bootstrap import Service
from abacus.platform.sqs.definition import definitions
from tests.support.paths import ROOT
from workers import WORKERS, needs

POLICIES: Final = ROOT / "docs" / "operate" / "iam"
OF_PEOPLE: Final = {"expiry-run", "quarantine-replay", "dlq-redrive", "queues-ensure"}

LOOKS: Final = {"GetQueueUrl", "GetQueueAttributes"}
SENDS: Final = LOOKS | {"SendMessage"}
TAKES: Final = LOOKS | {"ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"}
MAKES: Final = {"CreateQueue", "SetQueueAttributes", "GetQueueAttributes"}
QUEUES: Final = ("award", "retry", "expiry", "campaign-retry")
DEAD: Final = tuple(f"{name}-dlq" for name in QUEUES)

# What each does with which queue.
RIGHTS: Final[dict[str, dict[str, set[str]]]] = {
    "calculator": {"award": SENDS, "retry": SENDS},
    "retrier": {"award": SENDS, "retry": SENDS | TAKES},
    "awarder": {"award": SENDS | TAKES},  # what a slice that is away has to wait for comes again
    "expirer": {"expiry": TAKES},
    "api": {"award": SENDS, "retry": SENDS},
    "campaigner": {"award": SENDS, "campaign-retry": SENDS | TAKES},
    "exchanger": {"award": SENDS},
    "expiry-run": {"expiry": SENDS},
    "quarantine-replay": dict.fromkeys(QUEUES, SENDS),
    "dlq-redrive": {**dict.fromkeys(QUEUES, SENDS), **dict.fromkeys(DEAD, TAKES)},
    "queues-ensure": dict.fromkeys((*QUEUES, *DEAD), MAKES),
}


def policy(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((POLICIES / f"{name}.json").read_text(encoding="utf-8"))
    return document


def test_there_is_one_for_each_worker_with_queues_and_for_each_command() -> None:
    with_queues = {worker for worker in WORKERS if Service.SQS in needs([worker])}
    assert {path.stem for path in Path(POLICIES).glob("*.json")} == with_queues | OF_PEOPLE == RIGHTS.keys()


@pytest.mark.parametrize("name", RIGHTS)
def test_a_policy_gives_the_rights_that_are_used_and_no_other(name: str) -> None:
    document = policy(name)
    assert document.keys() == {"Version", "Statement"}
    assert document["Version"] == "2012-10-17"
    prefix = "arn:aws:sqs:REGION:ACCOUNT:abacus-"
    given: dict[str, set[str]] = {}
    for statement in document["Statement"]:
        assert statement["Effect"] == "Allow"
        for resource in statement["Resource"]:
            assert resource.startswith(prefix)
            given.setdefault(resource.removeprefix(prefix), set()).update(
                action.removeprefix("sqs:") for action in statement["Action"]
            )
    assert given == RIGHTS[name]
    assert given.keys() <= {queue.name for queue in definitions("")}
