"""`abacus offers simulate`: what is answered to a request with an offer among those in force. Nothing is done."""

import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import orjson
import typer
from pydantic import TypeAdapter, ValidationError

from abacus.api.api_problem import ApiProblem
from abacus.api.offers.asked import QualifyAsk, items_of
from abacus.cli.downstreams.asked import services
from abacus.cli.offers.family import offer_desk
from abacus.cli.offers.tried import chosen, counter_facts, rule_of
from abacus.cli.terminal.answer import Answer, Shown, Table
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused, SetAside
from abacus.engage.downstreams.services import Services
from abacus.engage.offers.decide.ask import Ask, ItemAnswer, Validated
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.directory import OfferDirectory
from abacus.engage.offers.facts import offer_facts
from abacus.engage.offers.members import Members
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.engage.offers.spent import SpentOffers
from abacus.intake.partners.decide.ask import Objection
from abacus.ledger.store.read import STANDING
from abacus.platform.validation import first_fault
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.segments.sets import segment_sets

_ASKS: Final[TypeAdapter[list[QualifyAsk]]] = TypeAdapter(list[QualifyAsk])
_MOST: Final = 1_000
_STANDARD_INPUT: Final = Path("-")


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
        clock = _At(at_time or desk.now())
        with spinner() as progress:
            progress.add_task("offers in force", total=None)
            async with _qualifier(offer, at, clock, asking, beside) as qualifier:
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
    try:
        body = sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes()
        read = orjson.loads(body)
        asks = _ASKS.validate_python(read if isinstance(read, list) else [read])
    except ValidationError as error:
        raise Refused(f"{file}: {first_fault(error)}") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{file}: {error}") from None
    if not 1 <= len(asks) <= _MOST:
        raise Refused(f"{file}: {len(asks):,} requests; write 1 to {_MOST:,}")
    return asks


def _admitting(offer: Offer) -> Offer:
    return replace(offer, audience=Audience.PUBLIC, code=None) if offer.audience is Audience.CODE else offer


@asynccontextmanager
async def _qualifier(
    offer: Offer, at: CommandActor, clock: _At, asking: Services, beside: OfferPublications
) -> AsyncIterator[Qualifier]:
    """Over the offers in force, with this one in the place of its other versions."""
    pool, rule = at.pool, rule_of(offer, beside)
    in_use = {side.name for side in looked_up_sides(rule) if side.place == SEGMENT} if rule is not None else set[str]()
    directory = OfferDirectory(pool, clock, in_use.update)
    await directory.refresh()
    index = directory.value()
    number = offer.number or 1 + max((armed.number for armed in index), default=0)
    index.put(replace(offer, number=number), rule)
    await SpentOffers(pool, lambda: index, clock).refresh()
    segments = segment_sets(pool)
    segments.use(in_use)
    await segments.refresh()
    book = CardBook(await CardStore(pool).all())
    members = Members(
        pool,
        standing=STANDING,
        clock=clock,
        monotonic=time.monotonic,
    )
    try:
        yield Qualifier(
            lambda: index,
            lambda: book,
            members=members,
            segments=segments.value,
            facts=offer_facts(counters=counter_facts(pool, beside), services=asking.ask),
            clock=clock,
        )
    finally:
        await members.close()


class _Told(NamedTuple):
    """What is answered to a request, line by line, and what the offer by itself comes to."""

    verdict: dict[str, Any]
    items: list[dict[str, Any]]
    refused: list[dict[str, Any]]


async def _told(qualifier: Qualifier, offer: Offer, asked: QualifyAsk, number: int) -> _Told:
    """Raises `Refused` for what does not fit the country."""
    try:
        card = qualifier.card(asked.country)
        items = items_of(asked.items, card.card.currency)
        ask = Ask(card, items, asked.scenario, asked.member_id, explains=True)
        answer, verdicts = await qualifier.qualify(ask), await qualifier.validate(ask, [offer.name])
    except (SetAside, Objection, OtherCountry) as fault:
        raise Refused(f"request {number}: {fault}") from None
    except ApiProblem as fault:
        first = fault.errors[0] if fault.errors else None
        said = fault.detail if first is None else f"{first.pointer}: {first.detail}"
        raise Refused(f"request {number}: {said}") from None
    currency = card.card.currency
    near = [
        {"request": number, "item": each.item.id, "offer": one.offer.name, "reason": one.reason, "needs": one.needs}
        for each in answer.items
        for one in each.refused
    ]
    lines = [{"request": number, **_line(each, currency)} for each in answer.items]
    return _Told({"request": number, **_verdict(verdicts.offers[0], items, currency)}, lines, near)


def _line(answer: ItemAnswer, currency: str) -> dict[str, Any]:
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
