"""A partner at play as the giver: what its members send, in the ledger of the reference partner."""

import sqlite3
from datetime import datetime
from typing import Final

from abacus.exchanges.decide.contract import Answer
from abacus.exchanges.partner_sim import inbound, transfers
from abacus.exchanges.partner_sim.inbound import Sent

_NUMBER: Final = "4712"
_ENDED: Final = frozenset({"captured", "released"})


class GiverAtPlay:
    """Each row is settled as it was read, if it still stands there."""

    def __init__(self) -> None:
        self._books = sqlite3.connect(":memory:", isolation_level=None)
        self._books.executescript(transfers.TABLES)

    def close(self) -> None:
        self._books.close()

    def send(self, id_: str, points: int, now: datetime) -> None:
        """A member earns the points, and sends them."""
        inbound.earn(self._books, _NUMBER, points)
        assert inbound.hold(self._books, id_, _NUMBER, points, now.timestamp()) is None

    def call_off(self, id_: str, now: datetime) -> None:
        inbound.cancel(self._books, id_, now.timestamp())

    def settle(self, sent: Sent, answer: Answer, now: datetime) -> None:
        state, why = inbound.state_after(sent, answer)
        inbound.settle(self._books, sent, state, why, now.timestamp())

    def sent(self) -> dict[str, Sent]:
        rows = self._books.execute("select id, number, points, state, waits_s from sent order by id").fetchall()
        return {row[0]: Sent(*row) for row in rows}

    def unsettled(self) -> list[Sent]:
        return [each for each in self.sent().values() if each.state not in _ENDED]

    def account(self) -> tuple[int, int]:
        """Its balance, and what is held of it."""
        balance, held = self._books.execute(
            "select coalesce(sum(balance), 0), coalesce(sum(held), 0) from account"
        ).fetchone()
        return balance, held
