"""`abacus offers simulate`: what is answered to a request with an offer among those in force. Nothing is done."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from pydantic import TypeAdapter, ValidationError

from abacus.api.offers.asked import QualifyAsk, items_of, spots_of
from abacus.cli.downstreams.asked import services
from abacus.cli.offers.asked_files import json_of, refusing
from abacus.cli.offers.family import offer_desk
from abacus.cli.offers.in_force import offers_in_force
from abacus.cli.offers.lines import line_of
from abacus.cli.offers.tried import chosen
from abacus.cli.terminal.answer import Answer, Shown, Table
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused
from abacus.engage.offers.decide.ask import Ask, Validated
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.qualifier import Qualifier
from abacus.people.types.deed import Deed
from abacus.platform.validation import first_fault

_ASKS: Final[TypeAdapter[list[QualifyAsk]]] = TypeAdapter(list[QualifyAsk])
_MOST: Final = 1_000


class _At(NamedTuple):
    """A clock that stands still."""

    at: datetime

    def now(self) -> datetime:
        return self.at


async def simulate_offer(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="An offer, or the file of a draft.", show_default=False)
    ],
    request: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="A request as `qualify` takes it, or a list of these, in JSON; - is standard input."
        ),
    ],
    when: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="With an offset. Default: now.", show_default=False)
    ] = None,
) -> Answer:
    """Say what would be answered to a request with this offer among those in force, and why it fits or not.

    A code counts as given. Nothing is reserved, and how often offers are shown is not counted.
    """
    at_time = None if when is None else moment("--at", when)
    asks = _read(request)
    async with actor() as at, services(at) as asking:
        desk = offer_desk(at)
        beside = await desk.around()
        offer = _admitting(await chosen(which, desk, at.pool, beside))
        for country in {offer.country, *(each.country for each in asks)}:
            at.check(Deed.SEE, country)
        clock = _At(at_time or desk.now())
        with spinner() as progress:
            progress.add_task("offers in force", total=None)
            async with offers_in_force(at, clock, asking, beside, trial=offer) as qualifier:
                told = [await _told(qualifier, offer, ask, number) for number, ask in enumerate(asks, 1)]
    document = {
        "offer": offer.label if offer.version else offer.name,
        "at": clock.at,
        "verdicts": [each.verdict for each in told],
        "items": [item for each in told for item in each.items],
        "refused": [near for each in told for near in each.refused],
    }
    return Answer(document, *_shown(offer, told))


def _read(file: Path) -> Sequence[QualifyAsk]:
    """Raises `Refused`."""
    read = json_of(file)
    try:
        asks = _ASKS.validate_python(read if isinstance(read, list) else [read])
    except ValidationError as error:
        raise Refused(f"{file}: {first_fault(error)}") from None
    if not 1 <= len(asks) <= _MOST:
        raise Refused(f"{file}: {len(asks):,} requests; write 1 to {_MOST:,}")
    return asks


def _admitting(offer: Offer) -> Offer:
    return replace(offer, audience=Audience.PUBLIC, code=None) if offer.audience is Audience.CODE else offer


class _Told(NamedTuple):
    """What is answered to a request, line by line, and what the offer by itself comes to."""

    verdict: dict[str, Any]
    items: list[dict[str, Any]]
    refused: list[dict[str, Any]]


async def _told(qualifier: Qualifier, offer: Offer, asked: QualifyAsk, number: int) -> _Told:
    """Raises `Refused` for what does not fit the country."""
    with refusing(f"request {number}"):
        card = qualifier.card(asked.country)
        items = items_of(asked.items, card.card, await spots_of(asked.items, qualifier.spots))
        ask = Ask(card, items, asked.scenario, asked.member_id, explains=True)
        answer, verdicts = await qualifier.qualify(ask), await qualifier.validate(ask, [offer.name])
    currency = card.card.currency
    near = [
        {"request": number, "item": each.item.id, "offer": one.offer.name, "reason": one.reason, "needs": one.needs}
        for each in answer.items
        for one in each.refused
    ]
    lines = [{"request": number, **line_of(each, currency)} for each in answer.items]
    return _Told({"request": number, **_verdict(verdicts.offers[0], items, currency)}, lines, near)


def _verdict(verdict: Validated, items: Sequence[Item], currency: str) -> dict[str, Any]:
    """Without a reason it fits."""
    refused = verdict.refused
    reason = None if refused is None else refused.reason.value
    return {
        "items": ", ".join(items[place].id for place, _ in verdict.fits),
        "saves": money_text(sum(shown.saves for _, shown in verdict.fits), currency),
        "reason": "country" if verdict.offer is None else reason,
        "needs": None if refused is None else refused.needs,
    }


def _shown(offer: Offer, told: Sequence[_Told]) -> Iterator[str | Shown]:
    columns = ["request", "item", "price", "best", "saves", "pays", "points", "next_best"]
    rows = [["-" if each[name] is None else each[name] for name in columns] for one in told for each in one.items]
    yield Table(f"With {offer.name} among the offers in force", [name.replace("_", " ") for name in columns], rows)
    for verdict in (each.verdict for each in told):
        if verdict["reason"] is None:
            yield f"request {verdict['request']}: {offer.name} fits {verdict['items']}, saves {verdict['saves']}"
        else:
            needs = f": {verdict['needs']}" if verdict["needs"] else ""
            yield f"request {verdict['request']}: {offer.name} does not fit by {verdict['reason']}{needs}"
