"""Files of transfers, and what a partner answers by files: their text. Pure.

A file has a header, lines and a trailer with the number of lines and the sum of their amounts. The same transfers make
the same bytes. A file with one fault is no file: nothing of it is believed.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.csv_text import csv_text
from abacus.core.errors import Refused
from abacus.exchanges.decide.heard import Cancelled, Credited, Heard, NotTakenBack, Rejected, TakenBack
from abacus.exchanges.types import PartnerStatement, StatementLine, StatementState, Transfer
from abacus.platform.delivery.decide.reply import brief

VERSION: Final = "1"
MOST_LINES: Final = 1_000_000
_NAME: Final = re.compile(r"([a-z0-9][a-z0-9_-]*)_(\d{8})_(\d{4})\.csv", re.IGNORECASE)
_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.IGNORECASE)
_FACTS: Final = 5  # of a transfer: number, holder, amount, points, programme
_SHOWN: Final = 60
_MOST: Final = 2**63 - 1
_LONGEST: Final = 100  # letters of an id, a reference, a code, or a number of an account
_YEARS: Final = range(2000, 3000)


class FileFault(Refused):
    """The file is not believed; the text names the line and the fault."""


class FileName(NamedTuple):
    """The name of a file of transfers. `seq` counts the files of a partner's day from 1."""

    partner: str
    day: date
    seq: int

    def __str__(self) -> str:
        return f"{self._stem}.csv"

    @property
    def digest_file(self) -> str:
        """Beside each file lies one with its SHA-256, as `sha256sum` writes and checks it."""
        return f"{self}.sha256"

    @property
    def receipt(self) -> str:
        """The partner's first answer: whether it takes the file."""
        return f"{self._stem}.receipt.csv"

    @property
    def results(self) -> str:
        """The partner's second answer: what became of each line."""
        return f"{self._stem}.results.csv"

    @property
    def _stem(self) -> str:
        return f"{stem(self.partner, self.day)}{self.seq:04}"


def stem(partner: str, day: date) -> str:
    """What the names of a partner's files of a day begin with."""
    return f"{partner}_{day:%Y%m%d}_"


def statement_name(partner: str, day: date) -> str:
    return f"{partner}_{day:%Y%m%d}.statement.csv"


class Line(StrEnum):
    """What a line asks for."""

    TRANSFER = "TRANSFER"
    CANCEL = "CANCEL"
    REVERSE = "REVERSE"


class Orders(NamedTuple):
    """What a file asks a partner for."""

    transfers: Sequence[Transfer] = ()
    cancels: Sequence[UUID] = ()
    reversals: Sequence[UUID] = ()


class Order(NamedTuple):
    """A line of a file, as its partner reads it. A transfer has number, holder, amount, points and programme."""

    exchange_id: UUID
    line: Line
    facts: Sequence[str]


class Receipt(NamedTuple):
    """The answer to a file. Of a refused file nothing was done."""

    digest: str
    accepted: bool
    reason: str | None


class Result(NamedTuple):
    """The answer to a line. An account that was merged into another is credited there."""

    heard: Heard
    merged_into: str | None = None


def file_text(name: FileName, made_at: datetime, orders: Orders) -> bytes:
    """The same orders make the same bytes, in whichever order they are given."""
    rows: list[list[str]] = []
    for each in sorted(orders.transfers, key=lambda transfer: transfer.exchange_id):
        account = [each.account.number, each.account.holder or ""]
        rows.append(
            [Line.TRANSFER, str(each.exchange_id), *account, str(each.amount), str(each.points), each.programme]
        )
    rows += [[Line.CANCEL, str(id_)] for id_ in sorted(orders.cancels)]
    rows += [[Line.REVERSE, str(id_)] for id_ in sorted(orders.reversals)]
    amount = sum(each.amount for each in orders.transfers)
    return _text([_header(name, made_at), *rows, ["TRAILER", str(len(rows)), str(amount)]])


def read_file(name: FileName, text: bytes) -> Sequence[Order]:
    """As its partner reads it: what each line asks for, and the facts of a transfer. Raises `FileFault` for a line
    that is none, an id that stands twice, and wrong totals.
    """
    body = _body(str(name), text, ["HEADER", VERSION, name.partner, f"{name.day:%Y%m%d}", f"{name.seq:04}"])
    orders: dict[UUID, Order] = {}
    amount = 0
    for number, row in body.rows:
        where = f"{name}, line {number}"
        try:
            exchange_id, line, facts = _order(row)
            amount += _amount(facts[2]) if facts else 0
        except ValueError:
            raise FileFault(
                f"{where}: TRANSFER,ID,NUMBER,HOLDER,AMOUNT,POINTS,PROGRAMME is expected, CANCEL,ID, or REVERSE,ID"
            ) from None
        if exchange_id in orders:
            raise FileFault(f"{where}: {exchange_id} stands twice")
        orders[exchange_id] = Order(exchange_id, line, facts)
    _check_totals(str(name), body, amount)
    return list(orders.values())


def digest_text(name: FileName, text: bytes) -> bytes:
    return f"{digest(text)}  {name}\n".encode()


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def read_name(text: str) -> FileName:
    """Raises `FileFault`."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise FileFault(f"{text[:_SHOWN]!r} is no name of a file of transfers: PARTNER_YYYYMMDD_SEQ.csv")
    partner, day, seq = found.groups()
    try:
        return FileName(partner, datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date(), int(seq))
    except ValueError:
        raise FileFault(f"{text!r}: {day} is no day") from None


def read_receipt(name: FileName, text: bytes) -> Receipt:
    """Raises `FileFault`."""
    rows = list(_rows(text))
    if len(rows) != 1 or len(rows[0]) not in (4, 5) or rows[0][0] != "RECEIPT":
        raise FileFault(f"{name.receipt}: one line is expected: RECEIPT,FILE,SHA256,accepted|refused[,REASON]")
    _, file, sha256, verdict, *reason = rows[0]
    if file != str(name):
        raise FileFault(f"{name.receipt}: it is about {file[:_SHOWN]!r}")
    if _SHA256.fullmatch(sha256) is None:
        raise FileFault(f"{name.receipt}: {sha256[:_SHOWN]!r} is no SHA-256: 64 letters of 0 to 9 and a to f")
    if verdict not in ("accepted", "refused"):
        raise FileFault(f"{name.receipt}: {verdict[:_SHOWN]!r} is neither accepted nor refused")
    return Receipt(sha256.lower(), verdict == "accepted", _words(reason))


def read_results(name: FileName, text: bytes, asked: Mapping[UUID, Line]) -> Mapping[UUID, Result]:
    """What became of the lines of a file, which `asked` for these. Raises `FileFault` for an unknown line, a line that
    stands twice, and wrong totals.
    """
    where = name.results
    body = _body(where, text, ["HEADER", VERSION, name.partner, f"{name.day:%Y%m%d}", f"{name.seq:04}"])
    results: dict[UUID, Result] = {}
    credited = 0
    for number, row in body.rows:
        id_, result = _result(f"{where}, line {number}", row)
        if id_ not in asked:
            raise FileFault(f"{where}, line {number}: {id_} does not stand in {name}")
        if id_ in results:
            raise FileFault(f"{where}, line {number}: {id_} stands twice")
        results[id_] = result
        credited += result.heard.amount if isinstance(result.heard, Credited) else 0
    _check_totals(where, body, credited)
    return results


def read_statement(partner: str, day: date, text: bytes) -> PartnerStatement:
    """Raises `FileFault`."""
    where = statement_name(partner, day)
    body = _body(where, text, ["HEADER", VERSION, partner, f"{day:%Y%m%d}"])
    lines: list[StatementLine] = []
    for number, row in body.rows:
        try:
            lines.append(_entry(row))
        except ValueError:
            raise FileFault(
                f"{where}, line {number}: ENTRY,ID,credited|rejected|cancelled|reversed,AMOUNT,TIME[,REFERENCE] is"
                f" expected; an AMOUNT is from 0 to {_MOST}, a TIME has its offset, the others have up to {_LONGEST}"
                " printable letters"
            ) from None
    _check_totals(where, body, sum(each.amount for each in lines if each.state is StatementState.CREDITED))
    return PartnerStatement(day, complete=True, lines=lines)


class _Body(NamedTuple):
    """The lines between header and trailer with their numbers, and the trailer's totals."""

    rows: Sequence[tuple[int, list[str]]]
    lines_said: str
    amount_said: str


def _body(where: str, text: bytes, header: Sequence[str]) -> _Body:
    rows = list(_rows(text))
    if len(rows) > MOST_LINES:
        raise FileFault(f"{where}: more than {MOST_LINES:,} lines")
    if not rows or rows[0][: len(header)] != [*header]:
        raise FileFault(f"{where}, line 1: the header is not {','.join(header)},…")
    match rows:
        case [_, *lines, ["TRAILER", count, amount]]:
            return _Body([*enumerate(lines, 2)], count, amount)
        case _:
            raise FileFault(f"{where}: the last line is not TRAILER,COUNT,SUM: the file may be cut off")


def _check_totals(where: str, body: _Body, amount: int) -> None:
    if amount > _MOST:
        raise FileFault(f"{where}: the lines sum up to {amount}, which is more than {_MOST}")
    if (body.lines_said, body.amount_said) != (str(len(body.rows)), str(amount)):
        raise FileFault(
            f"{where}: the trailer says {brief(body.lines_said[:_SHOWN])} lines and {brief(body.amount_said[:_SHOWN])};"
            f" there are {len(body.rows)} lines and {amount}"
        )


def _result(where: str, row: Sequence[str]) -> tuple[UUID, Result]:
    try:
        return _read_result(row)
    except (ValueError, IndexError):
        raise FileFault(
            f"{where}: RESULT,ID,credited,AMOUNT,REFERENCE[,MERGED_INTO] is expected, or RESULT,ID,rejected,CODE[,WHY],"
            " RESULT,ID,cancelled|reversed, or RESULT,ID,not-reversed[,WHY];"
            f" an AMOUNT is from 1 to {_MOST}, the others have up to {_LONGEST} printable letters"
        ) from None


def _read_result(row: Sequence[str]) -> tuple[UUID, Result]:
    word, id_, verdict, *rest = row
    if word != "RESULT":
        raise ValueError(word)
    match verdict:
        case "credited":
            amount, *named = rest
            reference, merged_into = _plain(named[0]), _plain(named[1]) if named[1:] else None
            return UUID(id_), Result(Credited(_amount(amount), reference), merged_into)
        case "rejected":
            code, *why = rest
            return UUID(id_), Result(Rejected(_named(code), _words(why)))
        case "cancelled":
            return UUID(id_), Result(Cancelled())
        case "reversed":
            return UUID(id_), Result(TakenBack())
        case "not-reversed":
            return UUID(id_), Result(NotTakenBack(_words(rest)))
        case _:
            raise ValueError(verdict)


def _order(row: Sequence[str]) -> Order:
    word, id_, *facts = row
    order = Order(UUID(id_), Line(word), facts)
    if len(facts) != (_FACTS if order.line is Line.TRANSFER else 0):
        raise ValueError(word)
    return order


def _entry(row: Sequence[str]) -> StatementLine:
    word, id_, state, amount, at, *reference = row
    if word != "ENTRY":
        raise ValueError(word)
    referred = _plain(reference[0]) if reference else None
    return StatementLine(_named(id_), StatementState(state), _amount(amount, least=0), _moment(at), referred)


def _header(name: FileName, made_at: datetime) -> list[str]:
    made = made_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return ["HEADER", VERSION, name.partner, f"{name.day:%Y%m%d}", f"{name.seq:04}", made]


# What is read goes into rows as it is, so it is bounded here. Each raises `ValueError`.


def _moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None or at.year not in _YEARS:
        raise ValueError(text)
    return at


def _amount(text: str, *, least: int = 1) -> int:
    if not text.isascii() or not text.isdecimal() or not least <= int(text) <= _MOST:
        raise ValueError(text)
    return int(text)


def _named(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= _LONGEST:
        raise ValueError(text)
    return text


def _plain(text: str) -> str | None:
    """None where nothing is said."""
    return _named(text) if text else None


def _words(said: Sequence[str]) -> str | None:
    """For people, if there are any: one printable line."""
    return brief(said[0]) or None if said else None


def _text(rows: Iterable[Sequence[str]]) -> bytes:
    return csv_text(rows).encode()


def _rows(text: bytes) -> Iterator[list[str]]:
    """Raises `FileFault` for text that is not CSV in UTF-8."""
    try:
        yield from (row for row in csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), strict=True) if row)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFault(f"the file is not CSV in UTF-8: {error}") from None
