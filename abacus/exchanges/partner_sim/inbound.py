"""What the partner's members send to the house: the partner holds, the house credits, and only then the partner
captures. What was begun is driven to its end, whatever is lost between.

Rows of SQLite, and what the house answers. held → reserved → committed → captured; cancelling → released.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import orjson

from abacus.exchanges.carriers.line import Line, NoAnswer
from abacus.exchanges.decide.contract import JSON, Answer

_ENDED: Final = ("captured", "released")
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 5.0
_SAYS_NOTHING: Final = (401, 408, 425, 429)  # of what is below 500

# What the house says → where the row stands then.
_HEARD: Final = {"reserved": "reserved", "committed": "committed", "awarded": "captured", "dropped": "released"}


class Sent(NamedTuple):
    """An exchange to the house."""

    id: str
    number: str
    points: int
    state: str
    waits_s: float


class Asked(NamedTuple):
    """A question to the house."""

    method: str
    path: str
    body: bytes


class TooFew(NamedTuple):
    """The account has fewer points than are sent."""

    available: int


def earn(books: sqlite3.Connection, number: str, points: int) -> None:
    books.execute(
        "insert into account (number, state, balance, held) values (?, 'open', ?, 0)"
        " on conflict (number) do update set balance = balance + excluded.balance",
        (number, points),
    )


def hold(books: sqlite3.Connection, id_: str, number: str, points: int, now_s: float) -> TooFew | None:
    """Holds the points once under the id."""
    if books.execute("select true from sent where id = ?", (id_,)).fetchone():
        return None
    found = books.execute("select balance - held from account where number = ?", (number,)).fetchone()
    available = found[0] if found else 0
    if available < points:
        return TooFew(available)
    books.execute("update account set held = held + ? where number = ?", (points, number))
    books.execute(
        "insert into sent (id, number, points, state, due_at, waits_s) values (?, ?, ?, 'held', ?, ?)",
        (id_, number, points, now_s, _FIRST_WAIT_S),
    )
    return None


def cancel(books: sqlite3.Connection, id_: str, now_s: float) -> str | None:
    """Asks for its end, where it was not committed; where it stands, or None for an id that is not there."""
    books.execute(
        "update sent set state = 'cancelling', due_at = ? where id = ? and state in ('held', 'reserved')", (now_s, id_)
    )
    found = books.execute("select state from sent where id = ?", (id_,)).fetchone()
    return found[0] if found else None


def due(books: sqlite3.Connection, now_s: float, most: int) -> Sequence[Sent]:
    rows = books.execute(
        "select id, number, points, state, waits_s from sent where due_at <= ? order by due_at limit ?", (now_s, most)
    )
    return [Sent(*row) for row in rows]


def settle(books: sqlite3.Connection, sent: Sent, state: str, detail: str | None, now_s: float) -> None:
    """Brings a row to a state; a held point is captured or released with its last one. Nothing is done for a row that
    somebody brought elsewhere meanwhile.
    """
    goes_on = state != sent.state
    waits_s = _FIRST_WAIT_S if goes_on else min(2 * sent.waits_s, _LONGEST_WAIT_S)
    due_at = None if state in _ENDED else now_s + (0 if goes_on else waits_s)
    cursor = books.execute(
        "update sent set state = ?, detail = ?, due_at = ?, waits_s = ? where id = ? and state = ?",
        (state, detail, due_at, waits_s, sent.id, sent.state),
    )
    if cursor.rowcount and state in _ENDED:
        spent = sent.points if state == "captured" else 0
        books.execute(
            "update account set held = held - ?, balance = balance - ? where number = ?",
            (sent.points, spent, sent.number),
        )


class House:
    """The house, by the routes for what comes in, with the partner's key."""

    def __init__(self, line: Line, key: str) -> None:
        self._line = line
        self._headers: Final = {"authorization": f"Bearer {key}", "content-type": JSON}

    async def next_state(self, sent: Sent) -> tuple[str, str | None]:
        """Where a row stands after the next question, and why."""
        asked = question_of(sent)
        try:
            answer = await self._line.ask(asked.method, self._line.target(asked.path), self._headers, asked.body)
        except NoAnswer as fault:
            return sent.state, str(fault)
        return state_after(sent, answer)

    async def close(self) -> None:
        await self._line.close()


def question_of(sent: Sent) -> Asked:
    """What the house is asked next."""
    path = f"/v1/inbound-exchanges/{sent.id}"
    match sent.state:
        case "held":
            return Asked("PUT", path, orjson.dumps({"account": sent.number, "points": sent.points}))
        case "reserved":
            return Asked("POST", f"{path}/commit", b"")
        case "cancelling":
            return Asked("POST", f"{path}/cancel", b"")
        case _:
            return Asked("GET", path, b"")


def state_after(sent: Sent, answer: Answer) -> tuple[str, str | None]:
    """Where a row stands after an answer of the house, and why."""
    document = _document(answer)
    detail = document.get("detail")
    why = f"{answer.status}: {detail}" if detail else str(answer.status)
    if answer.is_success:
        state = _HEARD.get(str(document.get("state")), sent.state)
        if sent.state == "cancelling" and state == "reserved":
            state = sent.state
        return state, why
    # A refusal may be of this message alone: only the house's tombstone releases.
    refuses = HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if refuses and answer.status not in _SAYS_NOTHING and sent.state in {"held", "reserved"}:
        return "cancelling", why
    return sent.state, why


def _document(answer: Answer) -> Mapping[str, Any]:
    try:
        document = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}
