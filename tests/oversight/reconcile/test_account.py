"""The account's sums come out whatever the verdicts are, and a message that is lost or counted twice shows."""

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import starmap

from hypothesis import given
from hypothesis import strategies as st

from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Account, Finding, NamedFault, Window
from abacus.oversight.reconcile.decide.lines import Group, Posted, Published, ReadPartition
from abacus.oversight.reconcile.decide.report import document
from abacus.oversight.reconcile.decide.verdict import FAULTS, SAME, Facts, Queues, Verdict

NOW = datetime(2026, 5, 2, tzinfo=UTC)
WINDOW = Window(datetime(2026, 5, 1, tzinfo=UTC), NOW, NOW, "transactions", "points")

flags = st.booleans()
facts = st.builds(
    Facts, flags, st.sampled_from([None, "same", "other"]), flags, flags, flags,
    st.sampled_from([None, "invalid", "key-conflict"]), flags, flags, flags,
)  # fmt: skip
groups = st.lists(
    st.builds(
        Group,
        st.integers(0, 3),
        st.sampled_from(["rides", "meals"]),
        facts,
        st.integers(1, 10**7),
        st.integers(0, 10**9),
    ),
    max_size=20,
)
queues = st.builds(Queues, *[st.integers(0, 1)] * 3)


def told(groups: list[Group], held: Queues) -> Account:
    """An account that was told all of it, by a reader that counted the same."""
    account = Account(WINDOW, held)
    account.add_messages(groups)
    counted = Counter[int]()
    for group in groups:
        counted[group.partition] += group.messages
    account.reads += [
        ReadPartition(partition, 0, count, count, forgotten=False) for partition, count in sorted(counted.items())
    ]
    return account


@given(groups, queues)
def test_the_verdicts_come_to_the_messages_that_were_read(groups: list[Group], held: Queues) -> None:
    account = told(groups, held)
    account.close({})
    assert account.findings == []
    assert account.verdicts.total() == account.messages == sum(group.messages for group in groups)
    for lines in (account.partitions, account.sources):
        assert sum((line.verdicts for line in lines.values()), Counter[Verdict]()) == account.verdicts
    assert account.comes_out == (not any(account.verdicts[verdict] for verdict in FAULTS))
    assert account.reasons.total() == account.verdicts[Verdict.QUARANTINED]


@given(groups, queues, st.sampled_from([-1, 1]))
def test_a_message_that_is_lost_or_counted_twice_shows(groups: list[Group], held: Queues, off: int) -> None:
    account = told([*groups, GROUP], held)
    first = account.reads[0]
    account.reads[0] = first._replace(messages=first.messages + off)
    account.close({})
    assert not account.comes_out
    # In the partition, over the partitions, over the sources.
    assert [finding.what for finding in account.findings] == [Finding.SUM] * 3


AWARDED = Facts(
    ignored=False, posted=SAME, first=True, posted_before=False, doubled=False, held=None, read=True, settled=True,
    overdue=False,
)  # fmt: skip
GROUP = Group(0, "rides", AWARDED, 5, 50)


def test_points_count_once_for_each_award() -> None:
    account = told([GROUP, GROUP._replace(facts=AWARDED._replace(first=False), points=70)], Queues(0, 0, 0))
    assert (account.sources["rides"].total, account.sources["rides"].points) == (10, 50)


def test_transfers_that_the_topic_does_not_account_for_show() -> None:
    account = told([GROUP], Queues(0, 0, 0))
    account.posted.append(Posted("earn", "messages of the window", 5, 50))
    account.published = Published(5, 3, 0, 1, 0, 0, 0)
    account.close({0: 5})
    assert list(map(str, account.findings)) == [
        "the sum does not come out: transfers (5, but 4 published, not yet published and missing)"
    ]


def test_what_the_topic_forgot_is_said_and_is_a_fault_where_it_was_not_read() -> None:
    for committed, findings in ((7, []), (4, ["gone before it was read: partition 0 (offsets 4 to 6)"])):
        account = told([GROUP], Queues(0, 0, 0))
        account.reads = [ReadPartition(0, 7, 12, 5, forgotten=True)]
        account.close({0: committed})
        assert (account.whole, account.comes_out) == (False, not findings)
        assert list(map(str, account.findings)) == findings


def test_a_thousand_findings_are_named_and_the_rest_is_counted() -> None:
    account = told([], Queues(0, 0, 0))
    findings = list(starmap(NamedFault, ((Finding.MISSING, f"txn:t:{n}", "0:1") for n in range(MOST_FINDINGS + 5))))
    for finding in findings[:10]:
        account.found(finding)
    account.found_of(MOST_FINDINGS + 100, findings[10:])
    assert account.findings == findings[:MOST_FINDINGS]
    assert account.more_findings == 5 + 100 + 5


def test_the_document_says_all_of_it() -> None:
    account = told([GROUP], Queues(0, 0, 0))
    account.close({0: 5})
    filed = json.loads(json.dumps(document(account, "finance")))
    assert (filed["comes_out"], filed["whole"], filed["by"]) == (True, True, "finance")
    assert filed["partitions"] == [
        {
            "partition": 0, "first_offset": 0, "after_offset": 5, "whole": True, "messages": 5,
            "verdicts": {"awarded": 5},
        }
    ]  # fmt: skip
    assert filed["sources"] == [{"source": "rides", "messages": 5, "verdicts": {"awarded": 5}, "points": 50}]
