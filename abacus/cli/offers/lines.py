"""Answers about offers as lines of a table."""

from typing import Any

from abacus.engage.offers.decide.ask import ItemAnswer
from abacus.engage.offers.decide.currencies import money_text


def line_of(answer: ItemAnswer, currency: str) -> dict[str, Any]:
    best = answer.best
    return {
        "item": answer.item.id,
        "price": money_text(answer.item.line, currency),
        "best": None if best is None else best.offer.label,
        "saves": None if best is None else money_text(best.saves, currency),
        "pays": None if best is None else money_text(best.pays, currency),
        "points": None if best is None else best.points,
        "next_best": ", ".join(each.offer.label for each in answer.others),
    }
