"""The house at play as the giver: its rows stay, and its questions go when it is killed."""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import count
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.core.sources import Agent
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.heard import Heard, Pending
from abacus.exchanges.decide.movements import hold_of, settling
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.decide.quote import Wish, asked, quoted
from abacus.exchanges.decide.transfer_file import FileName, Line, Orders, file_text, read_results
from abacus.exchanges.decide.turn import Act, act, hold_lost, later, moved, turn, unlinked, woken
from abacus.exchanges.exchanger import LEASE
from abacus.exchanges.types import Account, Transfer
from abacus.pricing.decide.card import PublishedCard
from tests.exchanges.play.ledger import PointsAtPlay
from tests.support.cards import SINGAPORE

_CARD: Final = PublishedCard(SINGAPORE, 1)
_SHOP: Final = Agent("shop", "partner:shop")
_ASKS: Final = {Act.PUT: Line.TRANSFER, Act.GET: None, Act.CANCEL: Line.CANCEL, Act.REVERSE: Line.REVERSE}
_SETTLES: Final = frozenset({Act.CAPTURE, Act.RELEASE, Act.GIVE_BACK})


class Question(NamedTuple):
    """A question to a partner, about an exchange as it was read before it was put."""

    n: int
    act: Act
    exchange: Exchange


class FileAtPlay:
    """A file, and what its partner has answered."""

    def __init__(self, name: FileName, lines: dict[UUID, Line], text: bytes) -> None:
        self.name = name
        self.lines = lines
        self.text = text
        self.results: bytes | None = None
        self.is_answered = False
        self.is_refused = False


class HouseAtPlay:
    """`now` is set by who plays."""

    def __init__(self, now: datetime, programmes: Iterable[Programme]) -> None:
        self.now = now
        self.programmes = {each.name: each for each in programmes}
        self.points = PointsAtPlay()
        self.rows: dict[UUID, Exchange] = {}
        self.numbers: dict[UUID, str] = {}  # of accounts at partners
        self.unlinked: set[UUID] = set()
        self.orders: dict[tuple[UUID, Line], FileAtPlay | None] = {}
        self.files: list[FileAtPlay] = []
        self.waiting: dict[int, Exchange] = {}  # for an answer, by the number of the question
        self._count = count(1)

    # --- what members and people ask for ---

    def exchange(self, programme: Programme, points: int, number: str) -> UUID:
        """Asked for, and held."""
        id_, wish = UUID(int=next(self._count)), Wish("bob", programme.name, points=points)
        quote = quoted(programme, wish, UUID(int=0), _SHOP, self.now, exchange_id=id_)
        row = asked(quote, programme, str(id_), _SHOP, self.now)
        assert self.points.move(hold_of(row))
        self.rows[id_], self.numbers[id_] = row, number
        return id_

    def decide(self, id_: UUID, decision: Callable[[Exchange], Exchange], *, dies: bool = False) -> None:
        """What somebody decides of an exchange; it may be refused. Points that it moves are moved at once, unless the
        house dies before.
        """
        before = self.rows[id_]
        try:
            after = decision(before)
        except Refused:
            return
        self._write(before, after)
        if act(after) in _SETTLES and not dies:
            self._settle(after, after)

    # --- what is due ---

    @property
    def due(self) -> list[UUID]:
        return [id_ for id_, row in self.rows.items() if row.due_at is not None and row.due_at <= self.now]

    def carry(self, id_: UUID) -> Question | None:
        """Begins what is due. A question is marked as put before it is."""
        row = self.rows[id_]
        if row.due_at is None or row.due_at > self.now:
            return None
        after = woken(row, self.now, self._programme(row))
        leased = later(after, self.now + LEASE) if after.due_at is not None and after.due_at <= self.now else after
        self._write(row, leased)
        what = act(after)
        if what is Act.PUT and id_ in self.unlinked:
            self._write(after, unlinked(after, self.now))
        elif what in _SETTLES:
            self._settle(after, after)
        elif what in _ASKS and isinstance(self._programme(after).carrier, ByFile):
            self._enter(id_, _ASKS[what])
            self._hear(after, Pending("it waits for a file"))
        elif what in _ASKS:
            question = Question(next(self._count), what, after)
            self.waiting[question.n] = after
            return question
        return None

    def is_killed(self) -> None:
        """It waits for no answer any more; its rows stay."""
        self.waiting.clear()

    # --- what is heard ---

    def hear(self, n: int, heard: Heard, *, ledger_is_away: bool = False) -> None:
        """The answer to a question; the second one, and that to a question of the dead, is heard by nobody."""
        if (before := self.waiting.pop(n, None)) is not None:
            self._hear(before, heard, ledger_is_away=ledger_is_away)

    def is_told(self, id_: UUID, heard: Heard) -> None:
        """By the partner itself."""
        self._hear(self.rows[id_], heard)

    def _hear(self, before: Exchange, heard: Heard, *, ledger_is_away: bool = False) -> None:
        after = turn(before, heard, self.now, self._programme(before), 0.5)
        if act(after) in _SETTLES and not ledger_is_away:
            self._settle(before, after)
        elif after != before:
            self._write(before, after)

    def _settle(self, before: Exchange, after: Exchange) -> None:
        movement = settling(after, "miles", _CARD, self.now)
        done = self.points.move(movement)
        self._write(before, moved(after, self.now) if done else hold_lost(after, self.now, "declined"))

    def _write(self, before: Exchange, after: Exchange) -> None:
        """To the row that was read: one that has changed meanwhile stays."""
        row = self.rows[after.exchange_id]
        if (row.state, row.turns) == (before.state, before.turns):
            self.rows[after.exchange_id] = after

    # --- files ---

    def _enter(self, id_: UUID, line: Line | None) -> None:
        """What waits, or is in a file that is not answered, stands there already."""
        if line is not None:
            file = self.orders.setdefault((id_, line))
            if file is not None and file.is_answered:
                self.orders[id_, line] = None

    @property
    def has_orders(self) -> bool:
        """Whether lines wait for a file."""
        return None in self.orders.values()

    def make_file(self) -> None:
        lines: dict[UUID, Line] = {}
        for (id_, line), file in self.orders.items():
            if file is None:
                lines.setdefault(id_, line)
        name = FileName("filed", self.now.date(), len(self.files) + 1)
        of = {line: [id_ for id_, each in lines.items() if each is line] for line in Line}
        transfers = [self._transfer(id_) for id_ in of[Line.TRANSFER]]
        text = file_text(name, self.now, Orders(transfers, of[Line.CANCEL], of[Line.REVERSE]))
        file = FileAtPlay(name, lines, text)
        file.is_answered = not lines
        self.files.append(file)
        self.orders |= dict.fromkeys(lines.items(), file)

    def read_results(self, file: FileAtPlay) -> None:
        if file.results is None:
            return
        results = read_results(file.name, file.results, file.lines)
        for id_, result in results.items():
            self.is_told(id_, result.heard)
        file.is_answered = len(results) == len(file.lines)

    def refuse(self, file: FileAtPlay) -> None:
        """As a whole, before it was looked at: its lines wait for another one."""
        if file.results is None:
            file.is_answered = file.is_refused = True
            self.orders |= {key: None for key, there in self.orders.items() if there is file}

    def _transfer(self, id_: UUID) -> Transfer:
        row = self.rows[id_]
        label = f"{row.programme}@{row.version}"
        return Transfer(id_, Account(self.numbers[id_]), row.theirs, row.points, label, row.asked_at or self.now)

    def _programme(self, row: Exchange) -> Programme:
        return self.programmes[row.programme]
