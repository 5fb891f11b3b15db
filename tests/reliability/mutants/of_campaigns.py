"""Without one claim, limit or rule that keeps campaigns to what two people agreed on, and to doing it once."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.scripts import RULES, TABLES

_EFFECTS: Final = "abacus/engage/campaigns/effects.py"
_BATCH: Final = "abacus/engage/campaigns/decide/batch.py"
_POTS: Final = "abacus/engage/limits/pot_store.py"
_STORE: Final = "abacus/documents/stated_store.py"
_COMMAND: Final = "tests/cli/test_campaigns_command.py"
_STORED: Final = "tests/engage/campaigns/test_campaign_store.py"
_OUTSIDE: Final = "tests/engage/campaigns/test_downstreams.py"
_TOGETHER: Final = "tests/engage/campaigns/test_verdicts.py"
_JUDGED: Final = (f"{_STORED}::test_it_is_judged_again_when_it_is_submitted_and_when_it_is_approved",)


def _effects(test: str) -> tuple[str]:
    return (f"tests/engage/campaigns/test_effects.py::{test}",)


_HOLD: Final = _effects("test_limits_hold")

MUTANTS: Final = (
    Mutant(
        "the claim that another process made meanwhile",
        _EFFECTS,
        "Effects._write",
        Node("len(await connection.fetch(...)) < len(claims)", "False"),
        _effects("test_an_event_that_another_process_claims_is_not_decided"),
    ),
    Mutant(
        "the progress that another process began meanwhile",
        _EFFECTS,
        "Effects._write",
        Node("not await write_progress(...)", "await write_progress(...) is None"),
        _effects("test_a_member_that_another_process_has_begun_with_is_decided_again"),
    ),
    Mutant(
        "the campaign's limits of a member",
        _BATCH,
        "_Batch._refusal",
        Node("campaign.limits.of(scope).short_of(...)", "None"),
        _HOLD,
    ),
    Mutant(
        "the campaign's limits of all members",
        "abacus/engage/limits/decide/pots.py",
        "AtHand._short_of",
        Node("need > have", "False"),
        _HOLD,
    ),
    Mutant(
        "the look at what is left before a slot is filled",
        _POTS,
        "PotStore._fill",
        Node("any(need > have for need, have in zip(needed, left, strict=True))", "False"),
        _HOLD,
    ),
    Mutant(
        "the version by whose limits a slot was filled",
        _POTS,
        "PotStore.lock",
        Node("row.version == limited[pot].version", "True"),
        _effects("test_a_raised_limit_gives_more_and_a_lowered_one_nothing"),
    ),
    Mutant(
        "the slots of other slices, when a pot is locked whole",
        _POTS,
        "PotStore.lock",
        Node("slices.each(connection, lock_here, locks=True)", "lock_here()"),
        ("tests/ledger/slices/test_campaigns.py::test_a_limit_of_all_holds_over_all_slices",),
    ),
    Mutant(
        "what was done before there was a limit",
        "abacus/engage/campaigns/sums.py",
        "_DONE",
        Clause("coalesce(sum(s.events), 0)", "0"),
        _effects("test_what_was_done_without_a_limit_counts_when_there_is_one"),
    ),
    Mutant(
        "the approval before which a campaign does nothing",
        "abacus/documents/decide/heading.py",
        "runs_at",
        Node("at < version.approved_at", "False"),
        ("tests/engage/campaigns/test_calendar.py::test_nothing_before_the_approval",),
    ),
    Mutant(
        "the state that a campaign is resumed from",
        "abacus/documents/decide/states.py",
        "_WAYS",
        Node("{Status.PAUSED}", "{Status.PAUSED, Status.SUBMITTED}"),
        (f"{_COMMAND}::test_who_may_not",),
    ),
    Mutant(
        "the country that a campaign's name belongs to",
        _STORE,
        "StatedStore._drafted",
        Node("kind.country(before.document) != country", "False"),
        (f"{_COMMAND}::test_who_may_not",),
    ),
    Mutant(
        "the judgement of a campaign that is submitted",
        _STORE,
        "StatedStore._submitted",
        Node("await self._judge(...)"),
        _JUDGED,
    ),
    Mutant(
        "the judgement of a campaign that is approved",
        _STORE,
        "StatedStore.approve",
        Node("await self._judge(...)"),
        _JUDGED,
    ),
    Mutant(
        "somebody who approved what is in force",
        TABLES,
        "",
        Clause("or approved_by is not null", "or true"),
        (f"{_STORED}::test_the_database_wants_somebody_who_approved",),
    ),
    Mutant(
        "the trigger on documents of campaigns",
        RULES,
        "",
        Clause("name, version, document, country,", "name, version, country,"),
        ("tests/platform/test_migrations.py::test_history_cannot_be_changed[update campaign set document = '{}']",),
    ),
    Mutant(
        "the turns that an award takes before it leaves",
        "abacus/engage/actions/receivers.py",
        "turns_of.turns",
        Node("(await take_turns(...)).turns", "wanted"),
        (f"{_OUTSIDE}::test_awards_leave_at_the_pace_of_their_downstream",),
    ),
    Mutant(
        "the claim whose verdict counts",
        "abacus/platform/delivery/outbox.py",
        "_statements",
        Clause("= s.lease_until end", "is not null end"),
        ("tests/platform/delivery/test_tables.py::test_a_failure_that_comes_late_changes_nothing",),
    ),
    Mutant(
        "the guard of a call",
        "abacus/engage/actions/webhook_caller.py",
        "caller.attempt",
        Node("call.action in refused.against", "False"),
        (f"{_OUTSIDE}::test_a_guard_is_looked_at_before_a_call",),
    ),
    Mutant(
        "the campaigns that an event waited for",
        "abacus/engage/campaigns/retrier.py",
        "CampaignRetrier._candidates",
        Node("armed.campaign.name not in each.campaigns", "False"),
        (f"{_OUTSIDE}::test_only_who_waited_is_decided_later",),
    ),
    Mutant(
        "the events before, for a rule that asks what came of them",
        "abacus/engage/campaigns/evaluator.py",
        "CampaignEvaluator._decided",
        Node("pair in before", "False"),
        (f"{_TOGETHER}::test_a_rule_asks_what_came_of_the_events_before",),
    ),
    Mutant(
        "the others of a group that one event was decided for",
        _BATCH,
        "decide",
        Node("any(each.key in claimed for each in group)", "group[0].key in claimed"),
        ("tests/engage/campaigns/test_batch.py::test_a_group_is_decided_once_for_an_event",),
    ),
    Mutant(
        "the limit that hands an event on to the next of a group",
        _BATCH,
        "_Batch.decide",
        Node("self.runs[-1].outcome is not RunOutcome.REFUSED", "True"),
        ("tests/engage/campaigns/test_batch.py::test_who_of_a_group_gets_an_event",),
    ),
    Mutant(
        "the wait for a counter that counts the event",
        "abacus/signals/facts/counters.py",
        "CounterFacts._late",
        Node("position not in passed", "False"),
        ("tests/signals/facts/test_counters.py::test_who_waits_for_a_counter",),
    ),
)
