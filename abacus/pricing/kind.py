"""Rate cards, as published documents: each is in force from its day on, until another takes over."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.documents.kind import Between, DocumentKind, Table, Withdrawals
from abacus.documents.store import Reader
from abacus.documents.types import Record, documents
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection
from abacus.pricing.decide.card import (
    FINAL_BEFORE,
    RateCard,
    country_of,
    parse_card,
    split_name,
    to_document,
    to_toml,
)
from abacus.pricing.decide.card_form import CARD_FORM, card_choices
from abacus.pricing.decide.countries import Countries
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.decide.timeline import Phase, place_of, published_card, timeline


async def alone(_: Connection) -> None:
    """A card is judged by nothing else."""


async def _read(document: Mapping[str, object], _: None) -> RateCard:
    return parse_card(document)


def _described(card: RateCard) -> Iterator[tuple[str, str]]:
    return _flat(to_document(card))


def _flat(document: Mapping[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", str(value)


def _around_its_day(card: RateCard, history: Sequence[Record[RateCard]]) -> Between[RateCard]:
    """The card that it displaces on its first day, and the card that takes over from it."""
    displaced, successor = place_of(card, map(published_card, history))
    by_version = {record.version.number: record for record in history}
    before, after = (None if each is None else by_version[each.version] for each in (displaced, successor))
    return before, after


def _to_come_or_in_force(history: Sequence[Record[RateCard]], now: datetime) -> Sequence[Record[RateCard]]:
    return [span.record for span in timeline(history, now) if span.phase in {Phase.IN_FORCE, Phase.SCHEDULED}]


CARDS: Final[DocumentKind[RateCard, None]] = DocumentKind(
    word="card",
    plural="rate cards",
    noun="rate card",
    command="rates",
    subject="card",
    deed=Deed.PUBLISH_RATES,
    table=Table(
        "rate_card",
        "scope",
        own=("effective_from", "approved_by"),
        told={"is_final": f"d.effective_from <= now() + interval '{FINAL_BEFORE.total_seconds():.0f} s'"},
        withdrawals=Withdrawals("rate_card_withdrawal"),
    ),
    name_field=None,
    read=_read,
    restore=lambda document, _: parse_card(document),
    to_document=to_document,
    described=_described,
    compare=describe_changes,
    check=lambda *_: [],
    key=lambda card: card.scope,
    name=lambda card: card.scope,
    split_label=split_name,
    country=lambda card: country_of(card.scope),
    own=lambda card: {"effective_from": card.effective_from, "approved_by": None},
    toml=to_toml,
    form=CARD_FORM,
    choices=card_choices,
    file=lambda card: f"{card.scope.replace(':', '-')}-{card.effective_from:%Y-%m-%dT%H%M}",
    standing=_to_come_or_in_force,
    versions="timeline",
    between=_around_its_day,
)


async def countries_with_cards(connection: Connection) -> Countries:
    """What stands around documents of a country that are judged by nothing else."""
    cards = documents(await Reader(CARDS).latest(connection))
    return Countries({country for each in cards if (country := country_of(each.scope)) is not None})
