"""What is noted of a partner's request: every change that it asked for, and everything that was refused."""

from http import HTTPStatus
from typing import Any, Final, NamedTuple
from uuid import uuid4

import orjson
from starlette.types import Scope

from abacus.api.api_problem import TYPES
from abacus.intake.partners.requests.journal import LONGEST_DETAIL, RequestJournal
from abacus.intake.partners.requests.types import Noted

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Answered(NamedTuple):
    """The answer to a request, by the pattern of its path; `refusal` is the body of a refusing answer."""

    route: str
    status: int
    refusal: bytes
    took_s: float


def note(journal: RequestJournal, scope: Scope, answered: Answered) -> None:
    """Notes requests of partners only: not of people, nor of unknown callers."""
    state = scope["state"]
    partner_id = state.get("partner_id")
    refused = answered.status >= HTTPStatus.BAD_REQUEST
    if partner_id is None or (scope["method"] in _READS and not refused):
        return
    now = journal.takes_one(refused=refused)
    if now is None:
        return
    problem, detail = _problem(answered.refusal) if refused else (None, None)
    journal.note(
        Noted(
            partner_id=partner_id,
            at=now,
            noted_id=uuid4(),
            request_id=state["request_id"],
            mode=state["mode"],
            method=scope["method"],
            path=answered.route,
            status=answered.status,
            took_s=answered.took_s,
            problem=problem,
            detail=detail,
        )
    )


def _problem(refusal: bytes) -> tuple[str | None, str | None]:
    """The type and the detail of a problem document."""
    try:
        document: Any = orjson.loads(refusal)
    except orjson.JSONDecodeError:
        return None, None
    kind, detail = document.get("type"), document.get("detail") or document.get("title")
    return kind and kind.removeprefix(TYPES), detail and detail.replace("\0", "")[:LONGEST_DETAIL]
