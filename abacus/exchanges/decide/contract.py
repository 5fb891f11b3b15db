"""The contract with a partner's server: what is asked, and what its answers say. Pure.

docs/partners/exchange-contract.yaml is the contract. An answer that it does not allow says nothing about the points.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeGuard
from uuid import UUID

import orjson

from abacus.core.errors import AbacusError, Refused
from abacus.core.fields import EARLIEST, LATEST
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.types import (
    Account,
    Match,
    PartnerStatement,
    Recalled,
    StatementLine,
    StatementState,
    Transfer,
)
from abacus.platform.delivery.decide.reply import brief, waits_until

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"

CANCELLED: Final = "cancelled"
OTHER_FACTS: Final = "other-facts"
UNKNOWN_ID: Final = "unknown-id"
NOT_REVERSIBLE: Final = "not-reversible"
REFUSALS: Final = (
    "account-closed",
    "account-unknown",
    "name-mismatch",
    "cap-reached",
    "not-eligible",
    "amount-not-allowed",
)

_MOST: Final = 2**63 - 1
_LONGEST_REFERENCE: Final = 100
_LONGEST_NAME: Final = 100  # of an id, of an account's number, and of a programme with its version

VERIFY_PATH: Final = "/accounts/verify"


class Answer(NamedTuple):
    """A partner's answer, read to its end."""

    status: int
    media_type: str
    body: bytes
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class NotOfContract(AbacusError):
    """The contract does not allow such an answer; the message says what is wrong with it."""


def transfer_path(exchange_id: UUID | str) -> str:
    return f"/transfers/{exchange_id}"


def statement_path(day: date) -> str:
    return f"/statement?date={day.isoformat()}"


def transfer_body(transfer: Transfer) -> bytes:
    return orjson.dumps(
        {
            "account": account_document(transfer.account),
            "amount": transfer.amount,
            "points": transfer.points,
            "programme": transfer.programme,
            "asked_at": transfer.asked_at,
        }
    )


def account_document(account: Account) -> dict[str, str]:
    return (
        {"number": account.number} if account.holder is None else {"number": account.number, "holder": account.holder}
    )


# --- What an answer says of a transfer ---


def heard_to_put(exchange_id: UUID, answer: Answer, now: datetime) -> Heard:
    return _heard(_to_put, exchange_id, answer, now)


def heard_to_get(exchange_id: UUID, answer: Answer, now: datetime) -> Heard:
    return _heard(_to_get, exchange_id, answer, now)


def heard_to_cancel(exchange_id: UUID, answer: Answer, now: datetime) -> Heard:
    return _heard(_to_cancel, exchange_id, answer, now)


def heard_to_reverse(exchange_id: UUID, answer: Answer, now: datetime) -> Heard:
    return _heard(_to_reverse, exchange_id, answer, now)


def _heard(read: Callable[[str, Answer], Heard], exchange_id: UUID, answer: Answer, now: datetime) -> Heard:
    try:
        return read(str(exchange_id), answer)
    except NotOfContract as fault:
        return Silence(str(fault), retry_after_s(answer, now))


def retry_after_s(answer: Answer, now: datetime) -> float | None:
    """How long the partner asks to be left alone, if it does."""
    wait_s = (waits_until(answer.retry_after, now) - now).total_seconds()
    return wait_s if wait_s > 0 else None


def _to_put(id_: str, answer: Answer) -> Heard:
    match answer.status:
        case 200:
            return _transfer_in(document_in(answer), id_, {"credited", "reversed"})
        case 202:
            return _transfer_in(document_in(answer), id_, {"pending"})
        case 409:
            return OtherFacts(_detail(problem_in(answer)) if answer.media_type == PROBLEM else None)
        case 422:
            return _refusal(problem_in(answer), id_)
    raise unexpected(answer)


def _to_get(id_: str, answer: Answer) -> Heard:
    match answer.status:
        case 200:
            return _transfer_in(document_in(answer), id_, {"credited", "pending", "rejected", "cancelled", "reversed"})
        case 404:
            return _not_known(answer)
    raise unexpected(answer)


def _to_cancel(id_: str, answer: Answer) -> Heard:
    match answer.status:
        case 200:
            return _transfer_in(document_in(answer), id_, {"cancelled", "credited", "rejected", "reversed"})
        case 202:
            return _transfer_in(document_in(answer), id_, {"pending"})
    raise unexpected(answer)


def _to_reverse(id_: str, answer: Answer) -> Heard:
    match answer.status:
        case 200:
            return _transfer_in(document_in(answer), id_, {"reversed"})
        case 202:
            return _transfer_in(document_in(answer), id_, {"pending"})
        case 404:
            return _not_known(answer)
        case 422:
            problem = problem_in(answer)
            if problem.get("type") == NOT_REVERSIBLE:
                _check_id(problem, id_)
                return NotTakenBack(_detail(problem))
    raise unexpected(answer)


def _not_known(answer: Answer) -> NotKnown:
    """A server that is not the partner's also says 404: only the contract's own counts."""
    if problem_in(answer).get("type") != UNKNOWN_ID:
        raise unexpected(answer)
    return NotKnown()


def _refusal(problem: Mapping[str, Any], id_: str) -> Heard:
    kind = problem.get("type")
    _check_id(problem, id_)
    if kind == CANCELLED:
        return Cancelled()
    if kind not in REFUSALS:
        raise NotOfContract(f"answered 422 of the type {brief(str(kind))!r}, which the contract does not have")
    return Rejected(str(kind), _detail(problem))


def _transfer_in(document: Mapping[str, Any], id_: str, states: Collection[str]) -> Heard:
    _check_id(document, id_)
    if document.get("state") not in states:
        raise NotOfContract(f"answered with the state {brief(str(document.get('state')))!r}")
    return _transfer(document)


def _transfer(document: Mapping[str, Any]) -> Heard:
    """What a transfer's document says. Raises `NotOfContract`."""
    match document.get("state"):
        case "credited":
            return Credited(_amount(document), _reference(document))
        case "pending":
            return Pending(_detail(document))
        case "rejected":
            kind = document.get("type")
            if kind not in REFUSALS:
                raise NotOfContract(f"said {brief(str(kind))!r} of a rejected transfer: the contract has no such type")
            return Rejected(str(kind), _detail(document))
        case "cancelled":
            return Cancelled()
        case "reversed":
            return TakenBack()
        case other:
            raise NotOfContract(f"answered with the state {brief(str(other))!r}")


# --- Callbacks ---


class Told(NamedTuple):
    """What a callback says, and of which id."""

    exchange_id: UUID
    heard: Heard


def told_by(body: bytes) -> Told:
    """Reads a callback. Raises `NotOfContract`."""
    message = _read(body)
    kind, data = message.get("type"), message.get("data")
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise NotOfContract("a callback has a type and data")
    if kind not in {f"transfer.{state}" for state in StatementState}:
        raise NotOfContract(f"there is no callback of the type {brief(kind)!r}")
    if kind != f"transfer.{data.get('state')}":
        raise NotOfContract(f"{kind} tells of the state {brief(str(data.get('state')))!r}")
    return Told(_uuid(data.get("id")), _transfer(data))


# --- Accounts and statements ---


def match_in(answer: Answer) -> Match:
    """Raises `NotOfContract`."""
    if answer.status != HTTPStatus.OK:
        raise unexpected(answer)
    match = document_in(answer).get("match")
    if match not in list(Match):
        raise NotOfContract(f"answered with the match {brief(str(match))!r}")
    return Match(match)


def recalled_in(answer: Answer, exchange_id: UUID) -> Recalled | None:
    """None where it is not credited, or where the partner does not say, as the contract has it, what it was asked for
    by. Raises `NotOfContract` for an answer that is of nothing, or of another id.
    """
    if answer.status != HTTPStatus.OK:
        return None
    document = document_in(answer)
    _check_id(document, str(exchange_id))
    try:
        heard = _transfer(document)
    except NotOfContract:
        return None
    asked = document.get("asked")
    if not isinstance(heard, Credited) or not isinstance(asked, dict) or not isinstance(asked.get("account"), dict):
        return None
    number, points, programme = asked["account"].get("number"), asked.get("points"), asked.get("programme")
    if not _is_name(number) or not _is_name(programme) or not _is_amount(points, least=1):
        return None
    return Recalled(number, heard.amount, points, programme, heard.reference)


def statement_in(answer: Answer, day: date) -> PartnerStatement:
    """Raises `NotOfContract`, and `Refused` for sums that are not those of the lines."""
    if answer.status != HTTPStatus.OK:
        raise unexpected(answer)
    document = document_in(answer)
    if document.get("date") != day.isoformat():
        raise NotOfContract(f"answered with the statement of {brief(str(document.get('date')))}")
    complete, lines, sums = document.get("complete"), document.get("lines"), document.get("sums")
    if not isinstance(complete, bool) or not isinstance(lines, list) or not isinstance(sums, dict):
        raise NotOfContract("a statement has complete, lines and sums")
    read = [_line(each) for each in lines]
    if document.get("count") != len(read):
        raise Refused(f"the statement of {day} counts {brief(str(document.get('count')))} lines, and has {len(read)}")
    for state in StatementState:
        total = sum(each.amount for each in read if each.state is state)
        if total > _MOST:
            raise NotOfContract(f"the lines of the statement have {brief(str(total))} points that are {state.value}")
        if sums.get(state.value) != total:
            raise Refused(
                f"the statement of {day} says that {brief(str(sums.get(state.value)))} points are {state.value},"
                f" and its lines have {total}"
            )
    return PartnerStatement(day, complete, read)


def _line(line: object) -> StatementLine:
    if not isinstance(line, dict):
        raise NotOfContract("a line of the statement is no object")
    id_, state, at = line.get("id"), line.get("state"), line.get("at")
    if not isinstance(id_, str) or state not in list(StatementState) or not isinstance(at, str):
        raise NotOfContract("a line of the statement has an id, a state, an amount and a time")
    if not _is_name(id_):
        raise NotOfContract(f"{brief(id_)!r} is no id of a line: up to {_LONGEST_NAME} printable letters")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise NotOfContract(f"{brief(at)!r} is no time") from None
    if moment.tzinfo is None:
        raise NotOfContract(f"{brief(at)!r} has no offset")
    if not EARLIEST <= moment < LATEST:
        raise NotOfContract(f"{brief(at)!r} is not between the years {EARLIEST.year} and {LATEST.year}")
    return StatementLine(id_, StatementState(state), _amount(line, least=0), moment, _reference(line))


# --- Parts ---


def document_in(answer: Answer) -> Mapping[str, Any]:
    if answer.media_type != JSON:
        raise NotOfContract(f"answered {answer.status} as {brief(answer.media_type) or 'nothing'}, not as {JSON}")
    return _read(answer.body)


def problem_in(answer: Answer) -> Mapping[str, Any]:
    if answer.media_type != PROBLEM:
        raise NotOfContract(f"answered {answer.status} as {brief(answer.media_type) or 'nothing'}, not as {PROBLEM}")
    return _read(answer.body)


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotOfContract("answered with what is no JSON") from None
    if not isinstance(document, dict):
        raise NotOfContract("answered with JSON that is no object")
    return document


def unexpected(answer: Answer) -> NotOfContract:
    """Of a body only what the contract has for people: others may name the account."""
    if answer.media_type != PROBLEM:
        return NotOfContract(f"answered {answer.status}")
    problem = _read(answer.body)
    detail = _detail(problem)
    return NotOfContract(f"answered {answer.status} {brief(str(problem.get('type')))}{f': {detail}' if detail else ''}")


def _check_id(document: Mapping[str, Any], id_: str) -> None:
    if document.get("id") != id_:
        raise NotOfContract(f"answered for the id {brief(str(document.get('id')))!r}")


def _uuid(value: object) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise NotOfContract(f"{brief(str(value))!r} is no id of an exchange") from None


def _amount(document: Mapping[str, Any], *, least: int = 1) -> int:
    amount = document.get("amount")
    if not _is_amount(amount, least=least):
        raise NotOfContract(f"{brief(str(amount))!r} is no amount of points")
    return amount


def _is_amount(value: object, *, least: int) -> TypeGuard[int]:
    return type(value) is int and least <= value <= _MOST


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST_NAME


def _reference(document: Mapping[str, Any]) -> str | None:
    reference = document.get("reference")
    if reference is None:
        return None
    if not isinstance(reference, str) or not reference.isprintable() or len(reference) > _LONGEST_REFERENCE:
        raise NotOfContract(f"{brief(str(reference))!r} is no reference: up to {_LONGEST_REFERENCE} printable letters")
    return reference


def _detail(document: Mapping[str, Any]) -> str | None:
    detail = document.get("detail")
    return brief(detail) or None if isinstance(detail, str) else None
