"""The house at play as the taker: its rows, the queue of awards, and what the ledger has awarded."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

import orjson

from abacus.core.errors import Refused
from abacus.exchanges.decide.contract import Answer
from abacus.exchanges.decide.exchange import Exchange, State, award_key, inbound_id
from abacus.exchanges.decide.inbound import (
    Against,
    Asked,
    Refusal,
    Taker,
    awarded,
    buried,
    cancelled,
    committed,
    left,
    refused,
    reserved,
)
from abacus.exchanges.decide.movements import award_of
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.exchanges.decide.quote import Wish, amounts
from abacus.exchanges.partner_sim import inbound
from abacus.ledger.types.award_envelope import Award
from abacus.pricing.decide.card import PublishedCard
from tests.support.cards import SINGAPORE

_CARD: Final = PublishedCard(SINGAPORE, 1)
_BOB: Final = Taker(UUID(int=7), "bob")
_JSON: Final = "application/json"


class TakerAtPlay:
    """`now` is set by who plays. A change is made to a row as it stands, under its lock."""

    def __init__(self, now: datetime, programme: Programme) -> None:
        self.now = now
        self.rows: dict[UUID, Exchange] = {}
        self.awards: list[Award] = []  # in the queue
        self.posted: Counter[str] = Counter()  # points, by the keys of their awards
        self._programme = programme

    def answer(self, question: inbound.Asked) -> Answer:
        _, _, _, id_, *deed = question.path.split("/")
        match question.method, deed:
            case "PUT", []:
                return _said(self._reserve(id_, orjson.loads(question.body)["points"]), refuses=True)
            case _, ["commit"]:
                row = self._change(id_, partial(committed, programme=self._programme, now=self.now))
                return _said(row, refuses=True)
            case _, ["cancel"]:
                tomb = buried(self._programme.partner, id_, self.now)
                self.rows.setdefault(tomb.exchange_id, tomb)
                return _said(self._change(id_, partial(cancelled, now=self.now)))
            case _:
                return _said(self.row(id_))

    def due(self) -> list[UUID]:
        return [id_ for id_, row in self.rows.items() if row.due_at is not None and row.due_at <= self.now]

    def carry(self, id_: UUID) -> None:
        """What was left is dropped; what was committed is awarded, again and again until the ledger has it."""
        row = self.rows[id_]
        if row.state is State.RESERVED:
            self.rows[id_] = left(row, self.now)
        elif row.state is State.COMMITTED and award_key(row.partner, row.reference or "") in self.posted:
            self.rows[id_] = awarded(row, self.now)
        elif row.state is State.COMMITTED:
            self.awards.append(award_of(row, "points", _CARD))

    def post(self, award: Award) -> None:
        """Once under its key, however often it comes."""
        self.posted.setdefault(award.key, award.points)

    def row(self, id_: str) -> Exchange | None:
        return self.rows.get(inbound_id(self._programme.partner, id_))

    def _reserve(self, id_: str, points: int) -> Exchange:
        asked = Asked(self._programme.partner, id_, "4712", points, str(points))
        wish = Wish(_BOB.member_id, self._programme.name, Direction.IN, points=points)
        try:
            drawn = reserved(asked, self._programme, _BOB, amounts(self._programme, wish).credit, self.now)
        except Refused as fault:
            against = Against(Refusal.AMOUNT_NOT_ALLOWED, str(fault))
            drawn = refused(asked, self._programme, _BOB, against, self.now)
        return self.rows.setdefault(asked.exchange_id, drawn)

    def _change(self, id_: str, change: Callable[[Exchange], Exchange]) -> Exchange | None:
        row = self.row(id_)
        if row is not None:
            row = self.rows[row.exchange_id] = change(row)
        return row


def _said(row: Exchange | None, *, refuses: bool = False) -> Answer:
    if row is None:
        return Answer(404, _JSON, b"{}")
    status = 422 if refuses and row.state is State.DROPPED else 200
    return Answer(status, _JSON, orjson.dumps({"state": row.state}))
