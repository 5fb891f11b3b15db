"""The reader serves the last known cards, and never none. How a copy is kept fresh is in tests/platform."""

import asyncio
import math
from collections.abc import Mapping

import pytest

from abacus.cli.examples import example_cards
from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import Cadence
from abacus.pricing.decide.card import PublishedCard, parse_card, to_document
from abacus.pricing.store.cards import CardReader

CARDS = example_cards()
DOWN = Unavailable("database", "connection refused")


class Shelf:
    """A store in memory that can be down or empty, and counts how often it is read. Cards that are not known are new
    objects, as from a database.
    """

    def __init__(self, cards: int = 0) -> None:
        self.cards = cards
        self.down = False
        self.reads = 0

    async def all(self, known: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        self.reads += 1
        if self.down:
            raise DOWN
        read = [PublishedCard(parse_card(to_document(card)), 1) for card in CARDS[: self.cards]]
        return [known.get(card.name, card) for card in read]


class Hands:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


async def test_nothing_is_served_before_anything_was_read() -> None:
    reader = CardReader(Shelf(1).all)
    assert reader.age_s == math.inf
    with pytest.raises(Unavailable, match="rate cards unavailable: not read yet"):
        reader.book()


async def test_a_reader_that_may_be_empty_serves_no_cards() -> None:
    reader = CardReader(Shelf(0).all, may_be_empty=True)
    await reader.refresh()
    assert len(reader.book()) == 0


async def test_no_card_at_all_counts_as_not_readable_yet() -> None:
    shelf = Shelf(0)
    reader = CardReader(shelf.all)
    for attempt in (reader.refresh, reader.look_again):
        with pytest.raises(Unavailable, match="rate cards unavailable: no rate card is published yet"):
            await attempt()
    with pytest.raises(Unavailable, match="no rate card is published yet"):
        reader.book()
    shelf.cards = 1
    await reader.refresh()
    assert len(reader.book()) == 1


async def test_the_last_known_cards_outlive_the_store() -> None:
    shelf, clock = Shelf(2), Hands()
    reader = CardReader(shelf.all, Cadence(monotonic=clock))
    await reader.refresh()
    book = reader.book()
    shelf.down = True
    clock.at += 3600
    with pytest.raises(Unavailable, match="database unavailable: connection refused"):
        await reader.refresh()
    assert reader.book() is book
    assert reader.age_s == 3600
    shelf.down, shelf.cards = False, 0
    with pytest.raises(Unavailable, match="no rate card is published yet"):
        await reader.refresh()
    assert reader.book() is book
    shelf.cards = 3
    await reader.refresh()
    assert (len(reader.book()), reader.age_s) == (3, 0)


async def test_known_cards_stay_the_same_objects() -> None:
    shelf = Shelf(1)
    reader = CardReader(shelf.all)
    await reader.refresh()
    before = reader.book()
    await reader.refresh()
    assert reader.book() is before
    shelf.cards = 2
    await reader.refresh()
    assert reader.book() is not before
    name = f"{CARDS[0].scope}@1"
    assert reader.book().by_name(name) is before.by_name(name)


async def test_looking_again_finds_what_was_published_just_now_once_in_a_while() -> None:
    shelf, clock = Shelf(1), Hands()
    reader = CardReader(shelf.all, Cadence(monotonic=clock, look_again_every_s=1.0))
    await reader.refresh()
    shelf.cards = 2
    clock.at += 0.9
    await reader.look_again()
    assert (shelf.reads, len(reader.book())) == (1, 1)
    clock.at += 0.1
    await asyncio.gather(*(reader.look_again() for _ in range(50)))
    assert (shelf.reads, len(reader.book())) == (2, 2)


async def test_looking_again_while_the_store_is_down() -> None:
    shelf, clock = Shelf(1), Hands()
    shelf.down = True
    reader = CardReader(shelf.all, Cadence(monotonic=clock))
    for _ in range(2):  # the second at the same moment, so without asking the store
        with pytest.raises(Unavailable, match="rate cards unavailable: database unavailable: connection refused"):
            await reader.look_again()
    assert shelf.reads == 1
    shelf.down = False
    clock.at += 1
    await reader.look_again()
    shelf.down = True
    clock.at += 1
    await reader.look_again()
    assert (shelf.reads, len(reader.book())) == (3, 1)


async def test_a_card_that_may_be_missing_is_missing_only_after_a_reading() -> None:
    """It is read after the question. While the store is away, nobody can say that there is no such card."""
    shelf, hands = Shelf(1), Hands()
    reader = CardReader(shelf.all, Cadence(look_again_every_s=0.001, monotonic=hands))
    await reader.refresh()
    shelf.cards = 2
    hands.at += 1
    await asyncio.gather(*(reader.read_anew() for _ in range(50)))
    assert (shelf.reads, len(reader.book())) == (2, 2)
    shelf.down = True
    hands.at += 1
    with pytest.raises(Unavailable, match="rate cards unavailable: database unavailable: connection refused"):
        await reader.read_anew()
    assert len(reader.book()) == 2
