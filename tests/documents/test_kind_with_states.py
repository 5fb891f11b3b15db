"""A kind with states is approved by a second person, moved and listed without a line of its own."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from abacus.core.errors import Refused
from abacus.documents.decide.states import Act, State, Status, WrongState
from abacus.documents.stated import Change
from abacus.documents.stated_store import StatedStore
from abacus.platform.postgres import Pool
from tests.documents.sales import SALES, SPRING, TABLES, Sale, parse_sale

NOW = datetime.now(UTC)
BY_ANN = Change("person:ann", NOW)
BY_BEN = Change("person:ann", NOW, approved_by="person:ben")


@pytest.fixture
async def store(pool: Pool, database_url: str) -> StatedStore[Sale, None]:
    owner = await asyncpg.connect(database_url)
    await owner.execute(TABLES)
    await owner.close()
    return StatedStore(pool, SALES)


async def test_a_version_is_in_force_from_its_approval_to_the_next(store: StatedStore[Sale, None]) -> None:
    for percent in (10, 20):
        (submitted,) = await store.publish([parse_sale({**SPRING, "percent": percent})], None, BY_ANN)
        assert submitted.status is Status.SUBMITTED
        await store.approve("spring", submitted.document.version, None, BY_BEN)
    first, second = await store.history("spring")
    assert (first.status, first.reason) == (Status.ENDED, "replaced by spring@2")
    assert (second.state(NOW), second.approved_by, second.approved_at) == (State.RUNNING, "person:ben", NOW)
    (sale,) = await store.in_force(NOW)
    assert (await store.in_force(NOW, {sale.label: sale}))[0] is sale
    assert await store.in_force(NOW + timedelta(days=2)) == []
    assert [each.document.label for each in await store.page(NOW, state=State.RUNNING, limit=9)] == ["spring@2"]


async def test_a_refusal_says_why_in_the_words_of_the_kind(store: StatedStore[Sale, None]) -> None:
    await store.draft([parse_sale(SPRING)], None, BY_ANN)
    with pytest.raises(Refused, match="spring@1 is this sale already, and draft"):
        await store.draft([parse_sale(SPRING)], None, BY_ANN)
    with pytest.raises(WrongState, match="spring@1 is draft, so it cannot be paused"):
        await store.move("spring", None, Act.PAUSE, BY_ANN)
    with pytest.raises(Refused, match="spring has no version 2; `abacus sales list spring` prints all"):
        await store.move("spring", 2, Act.END, BY_ANN)
    with pytest.raises(Refused, match="there is no sale 'summer'; `abacus sales list` prints all"):
        await store.submit("summer", None, BY_ANN)
