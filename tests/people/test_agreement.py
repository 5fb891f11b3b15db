"""What an approval allows, decided without a database."""

from datetime import timedelta
from uuid import UUID

import pytest

from abacus.people.decide.agreement import OnAsk, check_approves, check_rejects, check_unchanged, digest_of, on_ask
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Status
from abacus.people.types.person import Actor
from tests.people.approving import ANN, BEN, CAT, LOGIN, NOW, person, proposal

ID = UUID(int=1)


def approval(status: Status = Status.PENDING, asked_by: str = "person:ann", country: str | None = "SG") -> Approval:
    kind, subject, country, summary, document, _ = proposal(country=country)
    return Approval(
        approval_id=ID,
        kind=kind,
        subject=subject,
        country=country,
        summary=summary,
        document=document,
        digest=digest_of(kind, subject, country, document),
        asked_by=asked_by,
        asked_at=NOW,
        status=status,
        decided_by=None if status == Status.PENDING else "person:ben",
        decided_at=None if status == Status.PENDING else NOW - timedelta(seconds=59),
        note=None,
    )


PENDING = approval()
SEEN = PENDING.digest


@pytest.mark.parametrize(
    ("waiting", "by", "digest", "why"),
    [
        (PENDING, BEN, SEEN, None),
        (PENDING, BEN, SEEN[:8], None),
        (PENDING, person("cat", "approver:SG"), SEEN, None),
        (PENDING, person("cat", "admin"), SEEN, None),
        (approval(Status.APPROVED), BEN, SEEN, None),  # to be carried out at last
        (approval(Status.APPROVED), CAT, SEEN, "approval-decided"),  # for it may be being carried out
        (approval(Status.APPROVED)._replace(decided_at=NOW - timedelta(minutes=1)), CAT, SEEN, None),
        (PENDING, ANN, SEEN, "second-person-needed"),
        (PENDING, person("cat", "approver:ID"), SEEN, "role-needed"),
        (PENDING, person("cat", "support"), SEEN, "role-needed"),
        (approval(country=None), person("cat", "approver:SG"), SEEN, "role-needed"),
        (PENDING, LOGIN, SEEN, "person-needed"),
        (approval(asked_by=LOGIN.source), LOGIN, SEEN, "person-needed"),
        (approval(asked_by="login:ben"), BEN, SEEN, "person-needed"),  # asked for before logins were refused
        (PENDING, BEN, SEEN[:7], "digest-mismatch"),
        (PENDING, BEN, "", "digest-mismatch"),
        (PENDING, BEN, "%" * 8, "digest-mismatch"),
        (PENDING, BEN, SEEN.upper(), "digest-mismatch"),
        (PENDING, BEN, "0" * 64, "digest-mismatch"),
        (approval(Status.DONE), BEN, SEEN, "approval-decided"),
        (approval(Status.REJECTED), BEN, SEEN, "approval-decided"),
        (approval(Status.VOID), BEN, SEEN, "approval-decided"),
    ],
)
def test_who_approves(waiting: Approval, by: Actor, digest: str, why: str | None) -> None:
    if why is None:
        check_approves(waiting, by, digest, NOW)
        return
    with pytest.raises(CannotDecide) as refused:
        check_approves(waiting, by, digest, NOW)
    assert refused.value.kind == why


@pytest.mark.parametrize(
    ("waiting", "by", "why"),
    [
        (PENDING, BEN, None),
        (PENDING, ANN, None),  # withdrawn
        (PENDING, person("ann", "viewer"), None),  # also after losing the role
        (approval(asked_by=LOGIN.source), LOGIN, None),
        (PENDING, LOGIN, "person-needed"),
        (PENDING, person("cat", "support"), "role-needed"),
        (approval(Status.APPROVED), BEN, "approval-decided"),
        (approval(Status.DONE), ANN, "approval-decided"),
    ],
)
def test_who_rejects(waiting: Approval, by: Actor, why: str | None) -> None:
    if why is None:
        check_rejects(waiting, by)
        return
    with pytest.raises(CannotDecide) as refused:
        check_rejects(waiting, by)
    assert refused.value.kind == why


def test_another_document_replaces_a_pending_one_and_never_an_approved_one() -> None:
    same, other = proposal(), proposal(points=6)
    assert on_ask(PENDING, same) is OnAsk.KEEP
    assert on_ask(PENDING, other) is OnAsk.REPLACE
    assert on_ask(approval(Status.APPROVED), same) is OnAsk.KEEP
    with pytest.raises(CannotDecide):
        on_ask(approval(Status.APPROVED), other)
    assert on_ask(approval(Status.REJECTED), other._replace(once=ID)) is OnAsk.KEEP


@pytest.mark.parametrize(
    "changed",
    [
        PENDING._replace(subject="other"),
        PENDING._replace(kind="rate_card"),
        PENDING._replace(country="ID"),
        PENDING._replace(country=None),
    ],
)
def test_the_digest_covers_all_that_is_agreed_on(changed: Approval) -> None:
    check_unchanged(PENDING, PENDING.document)
    with pytest.raises(CannotExecute):
        check_unchanged(changed, PENDING.document)
    with pytest.raises(CannotExecute):
        check_unchanged(PENDING, PENDING.document + " ")
