"""The steps of a month's close, in their order: which are done and by whom, what each found, which wait. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from abacus.console.errands.types import Errand, State
from abacus.oversight.closing.decide.record import Act, Signed
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.people.types.approval import Approval, Status
from abacus.programs.expiry.decide.month import Month

_OVER = "the end of the month in every country"


class Standing(StrEnum):
    """How a step stands."""

    DONE = "done"
    RUNS = "runs"
    TO_DO = "to do"
    WAITS = "waits"
    WRONG = "in the way"


@dataclass(frozen=True)
class Step:
    """`says` is what it found; `by` and `at` tell who did it and when."""

    name: str
    title: str
    about: str
    standing: Standing
    says: Sequence[str] = ()
    by: str | None = None
    at: datetime | None = None
    waits_for: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class Published:
    """A set of accounts of the journal."""

    name: str
    by: str
    at: datetime


@dataclass(frozen=True)
class Ended:
    """A month's end in a country: what lapsed. It is finished at a time, or `left` accounts wait."""

    country: str
    month: Month
    expired: int
    skipped: int
    points: int
    left: int
    finished_at: datetime | None


@dataclass(frozen=True)
class Task:
    """A task of the console, and the document that it printed."""

    errand: Errand
    document: Mapping[str, Any] | None

    @property
    def runs(self) -> bool:
        return self.errand.state.is_open

    @property
    def fault(self) -> list[str]:
        """What it says of its failure."""
        return [self.errand.told or "It failed."] if self.errand.state is State.FAILED else []


@dataclass(frozen=True)
class Sealed:
    """The newest seal."""

    number: int
    at: datetime
    accounts: int
    transfers: int


def accounts_step(published: Sequence[Published]) -> Step:
    newest = max(published, key=lambda each: each.at, default=None)
    return Step(
        "accounts",
        "Accounts of the journal",
        "Each kind of movement is booked on two accounts. They are kept from month to month.",
        Standing.DONE if newest else Standing.TO_DO,
        [", ".join(each.name for each in published)] if newest else ["No accounts are published yet."],
        newest.by if newest else None,
        newest.at if newest else None,
        command="abacus accounts list",
    )


def cost_step(month: Month, book: AssumptionBook, review: Task | None) -> Step:
    """By the assumptions in force on the month's last day; a review knows which cost is missing."""
    in_force = [each for pair in book.pairs() if (each := book.in_force(pair, month.last_day)) is not None]
    costs = [each for each in in_force if each.estimate.cost_per_point is not None]
    missing = [each["said"] for each in _obstacles(review) if each["name"] == "cost"]
    newest = max(costs, key=lambda each: each.set_at, default=None)
    says = [f"{each.name}: {each.estimate.cost_per_point} {each.estimate.currency} a point" for each in costs]
    return Step(
        "cost",
        "Cost of a point",
        "The journal books points at the cost that is assumed on the month's last day.",
        Standing.WRONG if missing else Standing.DONE if costs else Standing.TO_DO,
        [*says, *missing] or ["No cost is assumed for that day."],
        newest.set_by if newest else None,
        newest.set_at if newest else None,
        command="abacus report assumptions show",
    )


def expiry_step(month: Month, ends: Sequence[Ended], due: Sequence[tuple[str, Month]], task: Task | None) -> Step:
    """Points that lapse with a month's end are posted in the next month, so a month waits for the ends before it."""
    before = [each for each in ends if each.month == month.before and each.finished_at is not None]
    finished = [each.finished_at for each in before if each.finished_at is not None]
    left = {(each.country, each.month): each.left for each in ends}
    done = [
        f"{each.country}: {each.points:,} points of {_many(each.expired, 'account')} lapsed with the end of"
        f" {each.month}; {each.skipped:,} were active again"
        for each in before
    ]
    open_ = [
        f"{country}: the end of {of} "
        + (f"has {_many(left[country, of], 'account')} left" if (country, of) in left else "has not run")
        for country, of in due
    ]
    standing = Standing.RUNS if task and task.runs else Standing.TO_DO if due else Standing.DONE
    says = [*done, *open_] or [f"Nothing lapsed with the end of {month.before}."]
    return Step(
        "expiry",
        "Points that lapsed",
        f"What lapses with the end of a month is posted in the next one: {month} waits for the ends before it.",
        standing,
        [*says, *(task.fault if task and due else [])],
        task.errand.asked_by if task and finished and not due else None,
        max(finished, default=None),
        command="abacus expiry run --due --wait",
    )


def seal_step(newest: Sealed | None, task: Task | None, *, over_at: datetime, now: datetime) -> Step:
    """The seal is to be made after the month's end."""
    covers = newest is not None and newest.at >= over_at
    standing = Standing.DONE if covers else Standing.WAITS if now < over_at else Standing.TO_DO
    if newest is None:
        says = ["No seal was made yet."]
    elif covers:
        holds = f"{_many(newest.accounts, 'account')}, {_many(newest.transfers, 'transfer')}"
        says = [f"Seal {newest.number:,}: {holds}"]
    else:
        says = [f"Seal {newest.number:,}, the newest, is older than the month's end."]
    made = task is not None and newest is not None and _number(task) == newest.number
    return Step(
        "seal",
        "Seal",
        "One hash over every account, made after the month's end.",
        Standing.RUNS if task and task.runs else standing,
        [*says, *(task.fault if task and not covers else [])],
        task.errand.asked_by if task and made else None,
        newest.at if newest and covers else None,
        _OVER if standing is Standing.WAITS else None,
        "abacus ledger seal",
    )


def messages_step(task: Task | None, command: str, *, is_over: bool) -> Step:
    step = Step(
        "messages",
        "Messages of the month",
        "Every message of the month is found again: awarded once, ignored, set aside or on its way.",
        Standing.TO_DO if is_over else Standing.WAITS,
        waits_for=None if is_over else _OVER,
        command=command,
    )
    if task is None:
        return step
    if task.document is None:
        return replace(step, standing=Standing.RUNS if task.runs else Standing.WRONG, says=task.fault)
    found = task.document
    good = found["comes_out"] and found["whole"]
    verdicts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in found["verdicts"].items())
    differences = len(found["findings"]) + found["more_findings"]
    says = [f"{_many(found['messages'], 'message')}{': ' if verdicts else ''}{verdicts}"]
    says += [f"{found['on_the_way']:,} are on their way: do it again later."] if found["on_the_way"] else []
    says += [_many(differences, "difference")] if differences else []
    says += [] if found["whole"] else ["Kafka has forgotten messages of the month."]
    by, at = task.errand.asked_by, task.errand.ended_at
    return replace(step, standing=Standing.DONE if good else Standing.WRONG, says=says, by=by, at=at, waits_for=None)


def review_step(month: Month, task: Task | None, others: Iterable[Task | None], *, has_accounts: bool) -> Step:
    """`others` are the tasks of the steps before: what they did since the review is not in it."""
    step = Step(
        "review",
        "Review",
        "Everything that a close looks at, to the last row of the ledger. Nothing is signed yet.",
        Standing.TO_DO if has_accounts else Standing.WAITS,
        waits_for=None if has_accounts else "accounts of the journal",
        command=f"abacus report close --month {month} --check",
    )
    if task is None:
        return step
    if task.document is None:
        return replace(step, standing=Standing.RUNS if task.runs else Standing.WRONG, says=task.fault)
    open_ = [each for each in _obstacles(task) if each["left"]]
    accepted = len(_obstacles(task)) - len(open_)
    says = [f"{len(open_):,} in the way" if open_ else "Nothing stands in the way."]
    says += [f"{accepted:,} accepted: {task_reason(task)}"] if accepted else []
    asked = task.errand.asked_at
    since = any(
        each is not None and each.errand.ended_at is not None and each.errand.ended_at > asked for each in others
    )
    standing = Standing.DONE if not open_ else Standing.TO_DO if since else Standing.WRONG
    says += ["Something was done since: review again."] if open_ and since else []
    return replace(step, standing=standing, says=says, by=task.errand.asked_by, at=task.errand.ended_at)


def task_reason(task: Task) -> str:
    """Why something was accepted, as it was typed."""
    option = "--reason="
    return next((each.removeprefix(option) for each in task.errand.arguments if each.startswith(option)), "")


def signature_step(
    month: Month, record: Sequence[Signed], approval: Approval | None, review: Task | None, task: Task | None
) -> Step:
    """`approval`: the newest one of the month."""
    step = Step(
        "signature",
        "Signature",
        "The hashes of the files are signed, with the seal that covers them.",
        Standing.TO_DO,
        command=f"abacus report close --month {month}",
    )
    last = record[-1] if record else None
    if last is not None and last.act is Act.CLOSED:
        says = [f"Accepted: {each}" for each in last.accepted]
        return replace(step, standing=Standing.DONE, says=says, by=last.signed_by, at=last.signed_at)
    if task is not None and task.runs:
        return replace(step, standing=Standing.RUNS)
    if approval is not None and approval.status == Status.PENDING:
        says = ["The books are made; they wait for the signature."]
        by, at = approval.asked_by, approval.asked_at
        return replace(step, standing=Standing.WAITS, says=says, by=by, at=at, waits_for="another person, who signs")
    says = [f"Reopened: {last.reason}"] if last is not None else []
    says += task.fault if task is not None else []
    if review is None or review.document is None or not review.document["may_be_signed"]:
        return replace(step, standing=Standing.WAITS, says=says, waits_for="a review that finds nothing in the way")
    says += ["This house has another person sign."] if review.document.get("needs_approval") else []
    return replace(step, says=says)


def files_step(record: Sequence[Signed], files: Sequence[str]) -> Step:
    is_closed = bool(record) and record[-1].act is Act.CLOSED
    return Step(
        "files",
        "Files",
        "The month's roll-forward, journal, accounts and account of messages, each with the month in its name.",
        Standing.DONE if is_closed else Standing.WAITS,
        [f"Signed: {_many(len(record[-1].files), 'file')}"] if is_closed else [],
        waits_for=None if is_closed or files else "the signature",
    )


def of_closed(steps: Iterable[Step]) -> list[Step]:
    """Of a month that is closed nothing is to do any more."""
    return [replace(each, standing=Standing.DONE, waits_for=None) for each in steps]


def next_of(steps: Iterable[Step]) -> Step | None:
    """The first step that somebody can do now."""
    can = {Standing.TO_DO, Standing.WRONG}
    return next((each for each in steps if each.standing in can), None)


def _obstacles(review: Task | None) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = review.document["obstacles"] if review and review.document else ()
    return found


def _number(task: Task) -> int | None:
    number: int | None = task.document["seal"]["number"] if task.document else None
    return number


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
