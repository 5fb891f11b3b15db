"""The conformance kit: green against the reference partner, and each misbehaviour makes its own cases red."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest
import pytest_asyncio

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.exchanges.conformance import suite
from abacus.exchanges.conformance.kit import Accounts, Kit
from abacus.exchanges.decide.conformance import REMEMBERING, REVERSING, Outcome, Played, Run, check_report, report
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN
from abacus.platform.delivery.decide.signature import new_secret
from tests.support.partner_sim import Partner, partner_sim

pytestmark = pytest.mark.once

NAMES: Final = [case.name for case in suite.CASES]
OTHER_FACTS: Final = {"other-amount", "other-account", "other-points", "other-programme"}
SIGNATURES: Final = {name for name in NAMES if name.startswith("signature-")}

RED: list[tuple[Mapping[str, Any], set[str]]] = [
    ({}, set()),
    ({"slow": 1, "slow_s": 0}, set()),
    ({"forgets_refusals": True}, {*REMEMBERING, "refused-reverse"}),
    (
        {"forgets_tombstones": True},
        {"cancel-then-put", "cancel-get", "cancel-at-once", "cancel-reverse", "statement-once"},
    ),
    (
        {"credits_again": True},
        {"credit-repeat", "credit-asked-later", "credit-at-once", "statement-once", *OTHER_FACTS},
    ),
    ({"takes_any_facts": True}, OTHER_FACTS),
    ({"takes_any_signature": True}, SIGNATURES - {"signature-skewed", "signature-beside-another"}),
    ({"wrong_sums": True}, {"statement-sums"}),
    ({"misses_lines": 1}, {"statement-complete-lines"}),
    ({"skew_s": 600}, set(NAMES)),
    ({"fails_after": 1}, set(NAMES)),
]


@pytest_asyncio.fixture
async def partner() -> AsyncIterator[Partner]:
    async with partner_sim() as up:
        yield up


async def run_against(partner: Partner, *, wait_s: float = 30) -> Run:
    clock = SystemClock()
    kit = Kit(partner.line, partner.secret, Accounts("12345678", "12345679", CLOSED, UNKNOWN), clock, wait_s=wait_s)
    told: list[Played] = []
    run = await suite.run(kit, partner.url, clock, told.append)
    assert told == run.played
    return run


def red(run: Run) -> dict[str, str | None]:
    return {each.name: each.detail for each in run.played if each.outcome is not Outcome.GREEN}


_QUICK: Final[tuple[Mapping[str, Any], ...]] = ({}, {"forgets_refusals": True}, {"takes_any_signature": True})


@pytest.mark.parametrize(
    ("behaviour", "broken"),
    [
        pytest.param(
            behaviour,
            broken,
            id=",".join(behaviour) or "well",
            marks=() if behaviour in _QUICK else pytest.mark.long,
        )
        for behaviour, broken in RED
    ],
)
async def test_each_misbehaviour_makes_its_own_cases_red(
    partner: Partner, behaviour: Mapping[str, Any], broken: set[str]
) -> None:
    await partner.behaves(**behaviour)
    run = await run_against(partner, wait_s=0.5 if broken else 30)
    assert set(red(run)) == broken, red(run)
    assert run.is_green is (broken == set())


@pytest.mark.long
async def test_a_wrong_amount_is_seen_wherever_something_is_credited(partner: Partner) -> None:
    await partner.behaves(wrong_amount=1)
    broken = set(red(await run_against(partner)))
    assert {name for name in NAMES if name.startswith(("credit", "other-"))} <= broken
    assert (
        not {name for name in NAMES if name.startswith(("verify", "wrong-", "refused-repeat", "cancel-get"))} & broken
    )


def test_a_case_is_named_once_and_there_are_at_least_forty() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 40
    assert {*REMEMBERING, REVERSING} <= set(NAMES)


def test_a_partner_that_takes_nothing_back_may_do_so() -> None:
    played = [Played("reverse", "", Outcome.SKIPPED, "the partner takes nothing back", 0.1)]
    document = report(_run(*played), new_secret())
    assert (document["green"], document["reverses"]) == (True, False)


# --- The report ---

NOW: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECRET: Final = new_secret()
GREEN: Final = [Played(name, "", Outcome.GREEN, None, 0.1) for name in (*REMEMBERING, REVERSING)]


def _run(*played: Played) -> Run:
    return Run("https://partner.example", "abacus/1", NOW, NOW, played)


def test_a_report_says_what_the_house_has_to_know() -> None:
    document = report(_run(*GREEN), SECRET)
    told = {name: document[name] for name in ("green", "remembers_refusals", "reverses", "counts")}
    assert told == {
        "green": True,
        "remembers_refusals": True,
        "reverses": True,
        "counts": {"green": len(GREEN), "red": 0, "skipped": 0},
    }
    forgets = report(_run(GREEN[0]._replace(outcome=Outcome.RED), *GREEN[1:]), SECRET)
    assert (forgets["green"], forgets["remembers_refusals"]) == (False, False)
    assert not report(_run(), SECRET)["green"]  # nothing was played


def test_a_report_is_known_by_its_signature() -> None:
    document = json.loads(json.dumps(report(_run(*GREEN), SECRET)))
    check_report(document, SECRET)
    with pytest.raises(Refused, match="not signed with this key"):
        check_report(document, new_secret())
    for name, value in {"green": False, "url": "https://other.example", "digest": "0", "more": 1}.items():
        with pytest.raises(Refused, match="was changed"):
            check_report({**document, name: value}, SECRET)
    with pytest.raises(Refused):
        check_report({**document, "signature": None}, SECRET)
    with pytest.raises(Refused):
        check_report({}, SECRET)
