"""One rule for unknown things: exit 1, nothing on standard output, and one line with the same words everywhere."""

import shlex
from typing import Final

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import abacus, abacus_process
from tests.support.slices import SLICES

pytestmark = pytest.mark.once

NOBODY: Final = "00000000-0000-4000-8000-000000000000"
TIMES: Final = "--from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z"

# What every command says of a thing that nobody knows: after `there is no `, and before the remedy.
UNKNOWN: Final[dict[str, str]] = {
    "worker juggler": "worker 'juggler'",
    "explain nope": "award with the key 'nope'",
    "ledger prove nobody": "account of 'nobody'",
    "rates show SG@99": "rate card 'SG@99'",
    "rates timeline ZZ": "rate card of 'ZZ'",
    "rates withdraw SG@99 --reason x --yes": "rate card 'SG@99'",
    "rates restore SG@99 --from 2099-01-01T00:00:00Z --yes": "rate card 'SG@99'",
    **{
        f"downstreams {each} nope": "downstream 'nope'" for each in ("show", "test", "rotate-secret", "retire", "retry")
    },
    "events list nope": "source of events 'nope'",
    "events show nope": "source of events 'nope'",
    "events show nope@3": "source of events 'nope@3'",
    "counters list nope": "counter 'nope'",
    "counters show nope": "counter 'nope'",
    "counters show nope@1": "counter 'nope@1'",
    "counters retire nope --reason x": "counter 'nope'",
    "counters get nope --from 2026-01-01T00:00:00Z": "counter with a key such as 'nope'",
    "counters reconcile nope": "topic that a counter has read 'nope'",
    "counters backfill nope --from 2026-01-01T00:00:00Z": "counter 'nope'",
    **{f"campaigns {each} nope --reason x": "campaign 'nope'" for each in ("withdraw", "pause", "resume", "end")},
    **{f"campaigns {each} nope": "campaign 'nope'" for each in ("list", "show", "report")},
    "campaigns show nope@3": "campaign 'nope@3'",
    "campaigns simulate nope --event x.json": "campaign 'nope'",
    f"campaigns backtest nope {TIMES}": "campaign 'nope'",
    "campaigns list --country '??'": "country '??'",
    "campaigns list --country ZZ": "rate card of 'ZZ'",
    **{f"segments {each} nope bob": "segment 'nope'" for each in ("add", "remove", "has")},
    **{f"segments {each} nope other": "segment 'nope'" for each in ("intersect", "union", "subtract")},
    "segments drop nope --yes": "segment 'nope'",
    "segments show nope": "segment 'nope'",
    "segments export nope out.csv": "segment 'nope'",
    "tiers set nobody gold --program NIX --reason x": "program 'NIX'",
    "tiers show nobody": "account of 'nobody'",
    "tiers history nobody": "account of 'nobody'",
    "expiry preview --month 2026-01 --country ZZ": "rate card of 'ZZ'",
    "expiry preview --month 2026-01 --country '??'": "rate card of '??'",
    "expiry runs --country ZZ": "rate card of 'ZZ'",
    "expiry runs --country '??'": "country '??'",
    "points spend nobody 5 --program NIX": "account of NIX of 'nobody'",
    "points spend nobody 5 --country ZZ": "rate card of 'ZZ'",
    **{f"points {each} nobody {NOBODY}": f"hold of 'nobody' with the id '{NOBODY}'" for each in ("capture", "release")},
    f"offers release {NOBODY} --reason x": f"reservation '{NOBODY}'",
    f"offers rollback {NOBODY} --reason x": f"redemption '{NOBODY}'",
    **{f"rewards {each} {NOBODY} --reason x": f"redemption of a reward '{NOBODY}'" for each in ("cancel", "return")},
    "points reverse nope": "transfer with the key or the id 'nope'",
    "points holds nobody": "account of 'nobody'",
    "points lots nobody --program GRP": "account of GRP of 'nobody'",
    "adjustments add nobody 5 --reason x --program NIX": "account of NIX of 'nobody'",
    "report liability --at 2099-01-31": "day in the books '2099-01-31'",
    "report cohorts --at 2099-01": "day in the books '2099-01-01'",
    "report revenue --month 2026-01 --program NIX": "program 'NIX'",
    "report assumptions show --program NIX": "program 'NIX'",
    "report assumptions show --country ZZ": "rate card of 'ZZ'",
    f"approvals show {NOBODY}": f"approval '{NOBODY}'",
    f"approvals approve {NOBODY} --digest 00000000": f"approval '{NOBODY}'",
    f"approvals reject {NOBODY} --reason x": f"approval '{NOBODY}'",
    "people roles nobody --role viewer": "person 'nobody'",
    **{
        f"people {each} nobody": "person 'nobody'"
        for each in ("disable", "enable", "token", "revoke", "password", "totp")
    },
    "people log --country '??'": "country '??'",
    "console link nobody": "person 'nobody'",
    **{
        f"partners {each}": "partner 'nope'"
        for each in (
            *("rotate-key nope", "sign nope", "limit nope --budget-total 5", "disable nope", "enable nope"),
            *("show nope", "set nope --spend", "requests nope", "webhook set nope https://example.com/x"),
        )
    },
    **{
        f"partners webhook {each} nope": "webhook of 'nope'"
        for each in ("show", "rotate-secret", "test", "remove", "deliveries", "retry")
    },
    "members show nobody": "account of 'nobody'",
    "members erase nobody --reason x --yes": "member 'nobody'",
    "members transfers nobody": "account of 'nobody'",
    "notify expiring --country ZZ": "rate card of 'ZZ'",
    "notify resend nope": "parked message 'nope'",
    "quarantine show nope": "item of the quarantine 'nope'",
    "quarantine replay xyz": "item of the quarantine 'xyz'",
    "quarantine replay xyz --dry-run": "item of the quarantine 'xyz'",
    "quarantine list --country '??'": "country '??'",
    "pulse --country '??'": "country '??'",
    "dlq redrive nope": "queue 'nope'",
}


@pytest.fixture
async def env(pool: Pool, database_url: str) -> dict[str, str]:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    nowhere = {"ABACUS_KAFKA_BOOTSTRAP": "127.0.0.1:1", "ABACUS_SQS_ENDPOINT_URL": "http://127.0.0.1:1"}
    return {"ABACUS_DATABASE_URL": database_url, **nowhere}


@pytest.mark.long
async def test_what_nobody_knows_is_said_in_one_line_of_the_same_words(env: dict[str, str]) -> None:
    """In one database, because none of these changes anything."""
    for command, thing in UNKNOWN.items():
        ran = await abacus(*shlex.split(command), env=env, typed="a long password here\n")
        lines = ran.err.splitlines()
        assert (ran.code, ran.out, len(lines)) == (1, "", 1), (command, ran)
        assert lines[0].partition("; ")[0] == f"abacus: there is no {thing}", command


@pytest.mark.skipif(SLICES > 1, reason="the ledger of this run is cut")
@pytest.mark.parametrize("command", ["slices list", "slices move slice_3 there:5432", "slices rebalance"])
async def test_a_ledger_that_is_not_cut_says_so(env: dict[str, str], command: str) -> None:
    ran = await abacus(*command.split(), env=env)
    assert (ran.code, ran.out, ran.err) == (1, "", "abacus: this ledger is not cut into slices\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("status", "ABACUS_QUEUE_PREFIX: a text of another form is needed, not 'a b'"),
        ("points spend nobody 5 --country '??'", "country: a text of another form is needed, not '??'"),
        ("adjustments add nobody 5 --reason x --program '?'", "program: a text of another form is needed, not '?'"),
    ],
)
async def test_no_regular_expression_is_told_to_people(env: dict[str, str], command: str, line: str) -> None:
    ran = await abacus_process(*shlex.split(command), env=env | {"ABACUS_QUEUE_PREFIX": "a b"})
    assert (ran.code, ran.err) == (2, f"abacus: {line}\n")
