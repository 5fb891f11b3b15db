"""The log of a thing has the decisions on its approvals: one row a thing."""

import json

import pytest

from abacus.core.sources import person_source
from abacus.people.decide.things import ABOUT, Sought, approvals_about
from abacus.people.store.audit import log
from abacus.people.types.approval import ApprovalKind, Proposal
from abacus.platform.postgres import Pool
from tests.people.approving import ANN, BEN, Effects, room

NOBODY = Sought([], [], [])
OF_BOB = json.dumps({"member_id": "bob"})


def test_each_kind_is_about_a_thing() -> None:
    assert set(ABOUT) == set(ApprovalKind)


@pytest.mark.parametrize(
    ("thing", "sought"),
    [
        ("campaign:market", Sought(["campaign"], ["market"], [])),
        ("card:SG", Sought(["rate_card"], ["SG"], [])),
        ("card:SG@7", Sought(["rate_card"], ["SG"], [])),
        ("partner:acme", Sought(["limits"], ["acme"], [])),
        ("month:2026-03", Sought(["month_close"], ["2026-03"], [])),
        ("assumption:GRP:SG", Sought(["assumption"], ["assumption:GRP:SG"], [])),
        ("member:bob", Sought([], [], ["bob"])),
        ("member:b@b:1", Sought([], [], ["b@b:1"])),
        ("counter:rides", NOBODY),
        ("approval:7", NOBODY),
        ("market", NOBODY),
    ],
)
def test_approvals_are_sought_by_what_they_are_about(thing: str, sought: Sought) -> None:
    assert approvals_about([thing]) == sought


@pytest.mark.parametrize(
    ("kind", "subject", "thing"),
    [
        (ApprovalKind.CAMPAIGN, "market", "campaign:market"),
        (ApprovalKind.RATE_CARD, "SG", "card:SG"),
        (ApprovalKind.LIMITS, "acme", "partner:acme"),
        (ApprovalKind.ADJUSTMENT, "adjust:1", "member:bob"),
        (ApprovalKind.REVERSAL, "reverse:1", "member:bob"),
    ],
)
async def test_the_log_of_a_thing_has_decisions_on_its_approvals(
    pool: Pool, kind: ApprovalKind, subject: str, thing: str
) -> None:
    approvals = room(pool, Effects())
    request = await approvals.ask(Proposal(kind, subject, "SG", "do it", OF_BOB), ANN.agent)
    await approvals.approve(request.approval_id, BEN, request.digest)
    asked, approved = person_source("ann"), person_source("ben")
    assert {each.actor for each in await log(pool, subjects=[thing])} == {asked, approved}
    assert [each.actor for each in await log(pool, subjects=[thing], actor=approved)] == [approved]
    assert await log(pool, subjects=[f"{thing}-2"]) == []
