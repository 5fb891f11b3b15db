"""A month with every kind of transfer in it, of members who lie in all slices of a ledger that has eight."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from random import Random
from typing import Final

import orjson

from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.formula import rate_of, worth
from tests.oversight.reports.fifo import lots_of
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import SINGAPORE
from tests.support.slices import home_of

_CARD: Final = PublishedCard(SINGAPORE, 7)
_TIERS: Final = ("member", "silver", "platinum")
_GRANT: Final = {"granted_by": "acme", "reason": "Hi", "card": "SG@7"}
_DEBITS: Final = ("spend", "expire", "reverse", "adjust")
_MEMBERS: Final = 40
_HOLD: Final = """
insert into hold (member_id, hold_id, program, country, points, until, status, held_by, placed_seq, settled_seq)
values ($1, gen_random_uuid(), $2, $3, 7, now(), 'captured', 'x', $4, $5)
"""


async def write_month(pool: Pool) -> None:
    """Of each ledger the same. Some holds are captured without a word of who placed them."""
    histories = list(_histories())
    await write(pool, histories)
    for history in histories:
        moves = list(history.moves)
        for seq, move in enumerate(moves, 1):
            if move.under == "capture":
                async with pool.acquire(schema=await home_of(pool, history.member_id)) as connection:
                    of_account = history.member_id, history.program, history.country
                    await connection.execute(_HOLD, *of_account, seq - 1, seq)


def _histories() -> Iterator[History]:
    random = Random(5)  # the same month each time
    for number in range(_MEMBERS):
        country, program = random.choice([("SG", "GRP"), ("SG", "GRP"), ("SG", "OVO"), ("ID", "OVO")])
        history = History(f"m{number}", list(_moves(random)), program=program, country=country)
        named = sum(points for move in history.moves for _, points in move.draws)
        yield replace(
            history,
            held=random.randint(0, max(0, history.balance)) if number % 4 == 0 else 0,
            lifetime=number % 3 == 0,
            lots_drawn=sum(-move.points for move in history.moves if move.points < 0) - named,
            expires_on=random.choice([None, date(2026, 9, 30), date(2026, 12, 31), date(2026, 5, 31)]),
        )


def _moves(random: Random) -> Iterator[Move]:
    """Of May to August, in the order of time."""
    moves: list[Move] = []
    for place in range(random.randint(4, 16)):
        at = datetime(2026, 5 + place // 4, 1 + 7 * (place % 4), random.randint(0, 23), place, tzinfo=UTC)
        moves += _next(random, moves, at)
    yield from moves


def _next(random: Random, moves: Sequence[Move], at: datetime) -> list[Move]:
    match random.randint(0, 9):
        case 0 | 1 | 2 | 3:
            return [_award(random, at)]
        case 4:
            return [Move("earn", random.randint(1, 90), at, partner="acme", explanation=_GRANT, expires_on=_good(at))]
        case 5:
            return [Move("adjust", 15, at, under="adjust", source="person:ann", expires_on=_good(at))]
        case 6:
            return [
                Move("hold", 0, at, under="api:acme"),
                Move("spend", -7, at, under="capture", explanation={"spent_by": "acme"}),
            ]
        case _:
            lots = lots_of(History("-", moves))
            kind, points = random.choice(_DEBITS), random.randint(1, 60)
            if lots and kind != "spend" and random.random() < 0.5:
                seq, left = random.choice(sorted(lots.items()))
                return [Move(kind, -left, at, draws=[(seq, left)])]
            return [Move(kind, -points, at, under="ops", source="person:ann")]


def _award(random: Random, at: datetime) -> Move:
    """A transaction, by what a card said about it."""
    payment, tier = random.choice(["wallet", "cash"]), random.choice(_TIERS)
    vertical = random.choice(["food", "rides"])
    points, explanation = worth(f"{random.randint(1, 99)}.50", rate_of(_CARD, vertical, payment, tier))
    return Move("earn", points, at, expires_on=_good(at), explanation=orjson.loads(explanation))


def _good(at: datetime) -> date:
    return date(2026, at.month + 4, 28)
