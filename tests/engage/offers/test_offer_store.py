"""Offers in Postgres: one number for all versions of a name, and judged by what is published at each step."""

from dataclasses import replace

import pytest

from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import Act, Status
from abacus.documents.stated import Change
from abacus.engage.categories.decide.tree import parse_categories
from abacus.engage.offers.decide.offer_reader import parse_offer
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from tests.support.offers import NOW, document, publications

pytestmark = pytest.mark.once

AROUND = publications()
RIDES = parse_categories({"country": "SG", "categories": {"rides": {}}})
BY_ANN = Change("person:ann", NOW)
BY_BEN = Change("person:ann", NOW, approved_by="person:ben")


@pytest.fixture
def store(pool: Pool) -> OfferStore:
    return OfferStore(pool)


async def test_all_versions_of_a_name_have_one_number(store: OfferStore) -> None:
    for name, priority in (("b", 1), ("a", 1), ("b", 2), ("c", 1)):
        await store.draft([parse_offer(document(name=name, priority=priority), AROUND)], AROUND, BY_ANN)
    assert await store.numbers(["a", "b", "c", "d"]) == {"b": 1, "a": 2, "c": 3}
    assert [(each.document.label, each.document.number) for each in await store.history("b")] == [
        ("b@1", 1),
        ("b@2", 1),
    ]


async def test_it_holds_once_it_was_approved_and_is_judged_again_by_the_categories(store: OfferStore) -> None:
    elsewhere = replace(AROUND, categories={"SG": RIDES})
    await store.publish([parse_offer(document(), AROUND)], AROUND, BY_ANN)
    assert await store.in_force(NOW) == []
    with pytest.raises(DocumentFaults, match="SG has no category 'food'"):
        await store.approve("lunch_20", 1, elsewhere, BY_BEN)
    await store.approve("lunch_20", 1, AROUND, BY_BEN)
    (offer,) = await store.in_force(NOW)
    assert (offer.label, offer.number, offer.approved_at) == ("lunch_20@1", 1, NOW)
    assert (await store.move("lunch_20", None, Act.PAUSE, BY_ANN)).status is Status.PAUSED
    assert await store.in_force(NOW) == []
