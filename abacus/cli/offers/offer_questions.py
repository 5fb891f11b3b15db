"""`abacus offers qualify` and `validate`: what a caller of the API would be answered, for support. Nothing is done."""

from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from abacus.api.offers.asked import QualifyAsk, ValidateAsk, items_of, spots_of
from abacus.api.offers.told import item_told, qualified, validated
from abacus.cli.offers.asked_files import body_of, refusing
from abacus.cli.offers.counter import OfferCounter, offer_counter
from abacus.cli.offers.lines import line_of
from abacus.cli.terminal.answer import Answer, Table
from abacus.core.errors import Refused
from abacus.engage.offers.decide.ask import Ask, Scenario
from abacus.people.types.deed import Deed

Request = Annotated[
    Path, typer.Argument(metavar="FILE", help="The API's body, in JSON; - is standard input.", show_default=False)
]

_LINE: Final = ("item", "price", "best", "saves", "pays", "points", "next_best")
_NEAR: Final = ("item", "offer", "reason", "needs")


async def qualify_offers(file: Request) -> Answer:
    """Say which offers a member gets for the items of a request. With `"explain": true` in it, also which came close,
    and what these need. Nothing is reserved, and how often offers are shown is not counted.
    """
    asked = body_of(file, QualifyAsk)
    async with offer_counter() as counter:
        ask = await _question(counter, file, asked)
        ask = ask._replace(scenario=asked.scenario, explains=asked.explain)
        with refusing(file):
            answer = await counter.qualifier.qualify(ask)
    currency = ask.card.card.currency
    items = [item_told(each, currency, explains=asked.explain) for each in answer.items]
    document = qualified(items, answer.reading, of_basket=asked.scenario is Scenario.BASKET)
    lines = [line_of(each, currency) for each in answer.items]
    shown = [_table("Offers of the items", _LINE, lines)]
    near = [
        {"item": each.item.id, "offer": one.offer.label, "reason": one.reason, "needs": one.needs}
        for each in answer.items
        for one in each.refused
    ]
    return Answer(orjson.loads(document), *shown, *([_table("What came close", _NEAR, near)] if near else []))


async def validate_offers(file: Request) -> Answer:
    """Say what named offers and codes would save on the items of a request, each by itself, or why not. Nothing is
    reserved.
    """
    asked = body_of(file, ValidateAsk)
    if not asked.offers and not asked.codes:
        raise Refused(f"{file}: name an offer or a code")
    async with offer_counter() as counter:
        ask = await _question(counter, file, asked)
        singles = await counter.codes.found(counter.qualifier.without_public(asked.country, asked.codes))
        with refusing(file):
            verdicts = await counter.qualifier.validate(ask._replace(codes=asked.codes, singles=singles), asked.offers)
    ids, currency = [each.id for each in ask.items], ask.card.card.currency
    document = orjson.loads(validated(verdicts, ids, currency, explains=True))
    rows = [_verdict(each) for each in document["offers"]]
    return Answer(document, _table("Each by itself", ("named", "saves", "items", "reason", "needs"), rows))


async def _question(counter: OfferCounter, file: Path, asked: QualifyAsk | ValidateAsk) -> Ask:
    """Raises `Refused`."""
    counter.at.check(Deed.SEE, asked.country)
    with refusing(file):
        card = counter.qualifier.card(asked.country)
        spots = await spots_of(asked.items, counter.qualifier.spots)
        return Ask(card, items_of(asked.items, card.card, spots), member_id=asked.member_id)


def _verdict(told: dict[str, Any]) -> dict[str, Any]:
    refused = told.get("refused", {})
    return {
        "named": told.get("code") or told.get("offer"),
        "saves": told.get("saves"),
        "items": ", ".join(each["id"] for each in told.get("items", ())),
        "reason": refused.get("reason"),
        "needs": refused.get("needs"),
    }


def _table(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Table:
    cells = [["-" if each[name] is None else each[name] for name in columns] for each in rows]
    return Table(title, [name.replace("_", " ") for name in columns], cells)
