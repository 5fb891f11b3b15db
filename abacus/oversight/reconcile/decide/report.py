"""The account as it is filed: one JSON document. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from abacus.oversight.reconcile.decide.account import Account
from abacus.oversight.reconcile.decide.lines import Actions, SourceAccount
from abacus.oversight.reconcile.decide.verdict import Verdict


def document(account: Account, by: str) -> dict[str, Any]:
    """The whole account as JSON. `by` is the person who had it made."""
    window = account.window
    return {
        "comes_out": account.comes_out,
        "whole": account.whole,
        "from": window.start.isoformat(),
        "to": window.end.isoformat(),
        "as_of": window.as_of.isoformat(),
        "by": by,
        "transactions_topic": window.transactions_topic,
        "points_topic": window.points_topic,
        "messages": account.messages,
        "verdicts": _counted(account.verdicts),
        "quarantined": dict(sorted(account.reasons.items())),
        "on_the_way": account.on_the_way,
        "partitions": [
            {
                "partition": read.partition,
                "first_offset": read.first,
                "after_offset": read.after,
                "whole": not read.forgotten,
                "messages": read.messages,
                "verdicts": _counted(account.partitions.get(read.partition, SourceAccount()).verdicts),
            }
            for read in account.reads
        ],
        "sources": _lines(account.sources, "source", "messages"),
        "partners": _lines(account.partners, "partner", "awards"),
        "campaigns": _lines(account.campaigns, "campaign", "awards"),
        "actions": _actions(account.actions, "campaign"),
        "journeys": _lines(account.journeys, "journey", "awards"),
        "journey_actions": _actions(account.journey_actions, "journey"),
        "transfers": [each._asdict() for each in account.posted],
        "points": account.published._asdict(),
        "queues": account.queues._asdict(),
        "sums": [each._asdict() for each in account.sums],
        "findings": [each._asdict() for each in account.findings],
        "more_findings": account.more_findings,
    }


def _lines(lines: Mapping[str, SourceAccount], name: str, of: str) -> list[dict[str, Any]]:
    return [
        {name: each, of: line.total, "verdicts": _counted(line.verdicts), "points": line.points}
        for each, line in sorted(lines.items())
    ]


def _actions(actions: Sequence[Actions], name: str) -> list[dict[str, Any]]:
    return [{name: owner, **dict(zip(Actions._fields[1:], rest, strict=True))} for owner, *rest in actions]


def _counted(verdicts: Counter[Verdict]) -> dict[str, int]:
    """The counts in the order of the verdicts' own list, the same each time."""
    return {str(verdict): verdicts[verdict] for verdict in Verdict if verdicts[verdict]}
