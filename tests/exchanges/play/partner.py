"""A partner at play as the taker: the ledger of the reference partner, and the manners that it has."""

import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

import orjson

from abacus.exchanges.decide.contract import Answer, heard_to_get
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.heard import Heard, NotKnown, NotTakenBack
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.transfer_file import FileName, read_file
from abacus.exchanges.decide.turn import Act
from abacus.exchanges.partner_sim import transfers
from abacus.exchanges.partner_sim.behaviour import Behaviour
from abacus.exchanges.partner_sim.errands import tell
from abacus.exchanges.partner_sim.files import results_of
from abacus.exchanges.partner_sim.transfers import FORGOTTEN, Facts, NotReversible, OtherFacts, Row
from abacus.exchanges.types import StatementLine, StatementState

OPEN: Final = "4711"  # an account that gets transfers
_JSON: Final = "application/json"
Result = TypeVar("Result")


class Manners(NamedTuple):
    """What a partner keeps of its word. `programme` says what it has promised."""

    programme: Programme
    remembers: bool = True  # refusals
    buries: bool = True  # what it has cancelled
    takes_back: bool = True


class PartnerAtPlay:
    """Whatever it does is done in one transaction."""

    def __init__(self, manners: Manners) -> None:
        self.manners = manners
        self.books = sqlite3.connect(":memory:", isolation_level=None)
        self.books.executescript(transfers.TABLES)

    def close(self) -> None:
        self.books.close()

    def ask(self, act: Act, exchange: Exchange, number: str, now: datetime, *, later: float | None = None) -> Heard:
        """What it says to a question, after what it does about it."""
        id_ = str(exchange.exchange_id)
        done: Row | NotReversible | None
        match act:
            case Act.PUT:
                label = f"{exchange.programme}@{exchange.version}"
                facts = Facts(number, exchange.theirs, exchange.points, label)
                done = self._do(lambda books: self._put(books, id_, facts, now, later))
            case Act.CANCEL:
                done = self._do(lambda books: self._cancel(books, id_, now))
            case Act.REVERSE if not self.manners.takes_back:
                return NotTakenBack("it was spent")
            case Act.REVERSE:
                done = self._do(lambda books: transfers.reverse(books, id_, now))
            case _:
                done = self.row(exchange.exchange_id)
        return _said(exchange, done, now)

    def answer_file(self, name: FileName, text: bytes, now: datetime) -> bytes:
        """The text of its results."""
        orders = read_file(name, text)
        return self._do(lambda books: results_of(books, name, orders, now, Behaviour()))

    def decide(self, now: datetime) -> None:
        """What it had left for later; each is told by a callback."""
        for id_ in transfers.due(self.books, now.timestamp()):
            self._do(partial(self._decide, id_=id_, now=now))

    def take_back(self, id_: UUID, now: datetime) -> None:
        """By itself, if it has credited."""
        row = self._do(lambda books: transfers.reverse(books, str(id_), now))
        if isinstance(row, Row) and row.state != FORGOTTEN:
            self._do(lambda books: tell(books, row, now))

    def tell_again(self, id_: UUID, now: datetime) -> None:
        """A callback tells where the transfer stands."""
        row = self.row(id_)
        if row is not None and row.state in set(StatementState):
            self._do(lambda books: tell(books, row, now))

    def callbacks(self) -> list[tuple[int, bytes]]:
        """Those that have not arrived."""
        return self.books.execute("select n, body from callback order by n").fetchall()

    def forget_callback(self, n: int) -> None:
        self.books.execute("delete from callback where n = ?", (n,))

    def row(self, id_: UUID) -> Row | None:
        return transfers.find(self.books, str(id_))

    def state_of(self, id_: UUID) -> str | None:
        row = self.row(id_)
        return None if row is None else row.state

    def credits_of(self, id_: UUID) -> int:
        """How often it was credited, ever."""
        found = self.books.execute("select count(*) from change where id = ? and state = 'credited'", (str(id_),))
        return int(found.fetchone()[0])

    def balance(self, number: str) -> int:
        found = self.books.execute("select balance from account where number = ?", (number,)).fetchone()
        return 0 if found is None else int(found[0])

    def lines(self) -> Iterator[StatementLine]:
        """The last one of each id."""
        last = {each["id"]: each for each in transfers.ledger(self.books)["changes"]}
        for each in last.values():
            at = datetime.fromisoformat(each["at"])
            yield StatementLine(each["id"], StatementState(each["state"]), each["amount"], at, each["reference"])

    def _decide(self, books: sqlite3.Connection, id_: str, now: datetime) -> None:
        row = transfers.decide(books, id_, now)
        tell(books, row, now)
        self._forget_refusal(books, row)

    def _put(self, books: sqlite3.Connection, id_: str, facts: Facts, now: datetime, later: float | None) -> Row:
        put = transfers.put(books, id_, facts, now, later=later)
        assert not isinstance(put, OtherFacts)
        self._forget_refusal(books, put)
        return put

    def _forget_refusal(self, books: sqlite3.Connection, row: Row) -> None:
        if row.state == "rejected" and not self.manners.remembers:
            transfers.forget(books, row.id)

    def _cancel(self, books: sqlite3.Connection, id_: str, now: datetime) -> Row:
        row = transfers.cancel(books, id_, now)
        if row.state == "cancelled" and not self.manners.buries:
            transfers.forget(books, id_)
        return row

    def _do(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        self.books.execute("begin")
        result = work(self.books)
        self.books.execute("commit")
        return result


def _said(exchange: Exchange, done: Row | NotReversible | None, now: datetime) -> Heard:
    if isinstance(done, NotReversible):
        return NotTakenBack(f"it is {done.state}")
    if done is None or done.state == FORGOTTEN:
        return NotKnown()
    return heard_to_get(exchange.exchange_id, Answer(200, _JSON, orjson.dumps(done.document())), now)
