"""What a partner's ledger does with transfers: rows of SQLite, within a transaction of its caller.

One row for each id, for ever: a credit, a refusal and a tombstone are all remembered. `change` is the statement.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple

from abacus.exchanges.decide.contract import CANCELLED
from abacus.exchanges.decide.invented_accounts import MATCHES, REFUSED
from abacus.exchanges.types import Match, StatementState

TABLES: Final = """
create table if not exists account (
    number text primary key, holder text, state text not null, balance integer not null, held integer not null
);
create table if not exists transfer (
    id text primary key, state text not null, number text, amount integer, points integer, programme text,
    reference text, type text, due_at real
);
create index if not exists transfer_due_idx on transfer (due_at) where due_at is not null;
create table if not exists change (
    n integer primary key, id text not null, state text not null, amount integer not null, at text not null,
    reference text
);
create index if not exists change_at_idx on change (at);
create table if not exists callback (
    n integer primary key, id text not null, body blob not null, due_at real not null, attempts integer not null
);
create table if not exists sent (
    id text primary key, number text not null, points integer not null, state text not null, detail text,
    due_at real, waits_s real not null
);
create index if not exists sent_due_idx on sent (due_at) where due_at is not null;
"""

FORGOTTEN: Final = "forgotten"
MOST_AT_ONCE: Final = 10_000_000  # points in a transfer


class Facts(NamedTuple):
    """What a transfer is about: the same id with others is another transfer."""

    number: str
    amount: int
    points: int
    programme: str


class Row(NamedTuple):
    """A transfer as it stands. A tombstone for an id that never came has no facts."""

    id: str
    state: str
    number: str | None
    amount: int | None
    points: int | None
    programme: str | None
    reference: str | None
    type: str | None

    @property
    def facts(self) -> Facts | None:
        if self.number is None or self.amount is None or self.points is None or self.programme is None:
            return None
        return Facts(self.number, self.amount, self.points, self.programme)

    def document(self) -> dict[str, Any]:
        """As the contract tells of it."""
        told: dict[str, Any] = {"id": self.id, "state": self.state}
        if self.state in {"credited", "reversed"}:
            told |= {"amount": self.amount, "reference": self.reference}
        if self.state == "rejected":
            told |= {"type": self.type, "detail": "this account gets no transfers"}
        return told

    def whole_document(self) -> dict[str, Any]:
        """The same, with what it was asked for by where it is credited."""
        if self.state != "credited":
            return self.document()
        asked = {"account": {"number": self.number}, "points": self.points, "programme": self.programme}
        return {**self.document(), "asked": asked}


class OtherFacts(NamedTuple):
    """The id is there with other facts."""

    known: Facts


class NotReversible(NamedTuple):
    """The transfer is not credited."""

    state: str


def match_of(number: str) -> Match:
    return MATCHES.get(number, Match.MATCH)


def find(books: sqlite3.Connection, id_: str) -> Row | None:
    row = books.execute(
        "select id, state, number, amount, points, programme, reference, type from transfer where id = ?", (id_,)
    ).fetchone()
    return Row(*row) if row is not None else None


def put(
    books: sqlite3.Connection, id_: str, facts: Facts, now: datetime, *, later: float | None = None
) -> Row | OtherFacts:
    """Credits once under the id, or refuses it for ever; `later` leaves that to this time."""
    row = find(books, id_)
    if row is not None and row.state != FORGOTTEN:
        if row.facts is not None and row.facts != facts:
            return OtherFacts(row.facts)
        return row
    if row is not None:
        books.execute(
            "update transfer set number = ?, amount = ?, points = ?, programme = ? where id = ?", (*facts, id_)
        )
        _credit(books, id_, facts.number, facts.amount, now)
        return known(books, id_)
    books.execute(
        "insert into transfer (id, state, number, amount, points, programme, due_at)"
        " values (?, 'pending', ?, ?, ?, ?, ?)",
        (id_, *facts, later),
    )
    return decide(books, id_, now) if later is None else known(books, id_)


def decide(books: sqlite3.Connection, id_: str, now: datetime) -> Row:
    """Credits or refuses a pending transfer; every other stays as it is."""
    row = known(books, id_)
    if row.state != "pending" or (facts := row.facts) is None:
        return row
    refused = REFUSED.get(facts.number) or ("amount-not-allowed" if facts.amount > MOST_AT_ONCE else None)
    if refused is not None:
        books.execute("update transfer set state = 'rejected', type = ?, due_at = null where id = ?", (refused, id_))
        _note(books, id_, StatementState.REJECTED, now)
    else:
        _credit(books, id_, facts.number, facts.amount, now)
    return known(books, id_)


def _credit(books: sqlite3.Connection, id_: str, number: str, amount: int, now: datetime) -> None:
    _add(books, number, amount)
    n = _note(books, id_, StatementState.CREDITED, now, amount=amount)
    reference = f"PS{n:010d}"
    books.execute("update change set reference = ? where n = ?", (reference, n))
    books.execute("update transfer set state = 'credited', reference = ?, due_at = null where id = ?", (reference, id_))


def cancel(books: sqlite3.Connection, id_: str, now: datetime) -> Row:
    """Writes the tombstone, also for an id that never came; what was decided stays."""
    row = find(books, id_)
    if row is None:
        books.execute("insert into transfer (id, state, type) values (?, 'cancelled', ?)", (id_, CANCELLED))
    elif row.state in {"pending", FORGOTTEN}:
        books.execute("update transfer set state = 'cancelled', type = ?, due_at = null where id = ?", (CANCELLED, id_))
    else:
        return row
    _note(books, id_, StatementState.CANCELLED, now)
    return known(books, id_)


def reverse(books: sqlite3.Connection, id_: str, now: datetime) -> Row | NotReversible | None:
    """Debits what was credited, once. None for an id that never came."""
    row = find(books, id_)
    if row is None or row.state in {"reversed", FORGOTTEN}:
        return row
    if row.state != "credited" or row.number is None or row.amount is None:
        return NotReversible(row.state)
    _add(books, row.number, -row.amount)
    books.execute("update transfer set state = 'reversed' where id = ?", (id_,))
    _note(books, id_, StatementState.REVERSED, now, amount=row.amount, reference=row.reference)
    return known(books, id_)


def forget(books: sqlite3.Connection, id_: str) -> None:
    """As a partner that does not remember: the next message of the id is credited, whatever was said before."""
    books.execute(
        "update transfer set state = ?, number = null, amount = null, type = null where id = ?", (FORGOTTEN, id_)
    )


def due(books: sqlite3.Connection, now_s: float) -> Sequence[str]:
    """The pending transfers that are decided now."""
    return [id_ for (id_,) in books.execute("select id from transfer where due_at <= ? order by due_at", (now_s,))]


def statement(books: sqlite3.Connection, day: date, today: date) -> dict[str, Any]:
    rows = books.execute(
        "select id, state, amount, at, reference from change where at >= ? and at < ? order by n",
        (day.isoformat(), f"{day.isoformat()}U"),  # after every time of the day, which begins with a T
    ).fetchall()
    lines = [dict(zip(("id", "state", "amount", "at", "reference"), row, strict=True)) for row in rows]
    return stated(day, lines, complete=day < today)


def stated(day: date, lines: Sequence[Mapping[str, Any]], *, complete: bool) -> dict[str, Any]:
    return {
        "date": day.isoformat(),
        "complete": complete,
        "count": len(lines),
        "sums": {
            state.value: sum(each["amount"] for each in lines if each["state"] == state) for state in StatementState
        },
        "lines": lines,
    }


def ledger(books: sqlite3.Connection) -> dict[str, Any]:
    """All of it, for tests."""

    def table(name: str, *columns_: str) -> list[dict[str, Any]]:
        rows = books.execute(f"select {', '.join(columns_)} from {name} order by 1")
        return [dict(zip(columns_, row, strict=True)) for row in rows]

    return {
        "accounts": table("account", "number", "balance", "held"),
        "transfers": table("transfer", *Row._fields),
        "changes": table("change", "n", "id", "state", "amount", "at", "reference"),
        "sent": table("sent", "id", "number", "points", "state", "detail"),
        "callbacks": books.execute("select count(*) from callback").fetchone()[0],
    }


def known(books: sqlite3.Connection, id_: str) -> Row:
    """A transfer that is there."""
    row = find(books, id_)
    if row is None:
        raise LookupError(id_)
    return row


def _add(books: sqlite3.Connection, number: str, amount: int) -> None:
    books.execute(
        "insert into account (number, state, balance, held) values (?, 'open', ?, 0)"
        " on conflict (number) do update set balance = balance + excluded.balance",
        (number, amount),
    )


def _note(
    books: sqlite3.Connection,
    id_: str,
    state: StatementState,
    now: datetime,
    *,
    amount: int = 0,
    reference: str | None = None,
) -> int:
    at = now.astimezone(UTC).isoformat(timespec="microseconds")
    cursor = books.execute(
        "insert into change (id, state, amount, at, reference) values (?, ?, ?, ?, ?)",
        (id_, state.value, amount, at, reference),
    )
    return cursor.lastrowid or 0
