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


# In days: when it starts and ends, when it was approved, and ended by people. `spring` runs from yesterday to tomorrow.
@pytest.mark.parametrize(
    ("span", "approved", "moved", "is_there"),
    [
        ((-1, 0), True, None, True),
        ((1, 2), True, None, False),  # it is over
        ((-3, -1.1), True, None, False),  # it has not begun
        ((0, 1), False, None, True),  # it waits for approval
        ((-1, 0), True, Act.PAUSE, True),
        ((-1, 0), True, Act.EXHAUST, True),
        ((-1, 0), True, Act.END, True),
        ((0.5, 1), True, Act.PAUSE, True),  # it may go on
        ((0.5, 1), True, Act.EXHAUST, False),
        ((0.5, 1), True, Act.END, False),
    ],
)
async def test_which_versions_run_in_a_time(
    store: StatedStore[Sale, None],
    span: tuple[float, float],
    approved: bool,  # noqa: FBT001  # a column of the table
    moved: Act | None,
    is_there: bool,  # noqa: FBT001  # the expected outcome of a row
) -> None:
    await store.publish([parse_sale(SPRING)], None, BY_ANN._replace(now=NOW - timedelta(hours=2)))
    if approved:
        await store.approve("spring", 1, None, BY_BEN._replace(now=NOW - timedelta(hours=1)))
    if moved is not None:
        await store.move("spring", None, moved, BY_ANN)
    since, until = (NOW + each * timedelta(days=1) for each in span)
    assert [each.document.label for each in await store.between(since, until, limit=9)] == ["spring@1"] * is_there
    assert await store.countries_between(since, until) == ["SG"] * is_there


async def test_the_versions_of_a_time_come_by_name_and_no_more_than_asked_for(store: StatedStore[Sale, None]) -> None:
    await store.publish([parse_sale({**SPRING, "name": each}) for each in ("c", "a", "b")], None, BY_ANN)
    for number, percent in enumerate((20, 30), 1):
        await store.approve("b", number, None, BY_BEN)
        await store.publish([parse_sale({**SPRING, "name": "b", "percent": percent})], None, BY_ANN)
    span, seen, after = (NOW - timedelta(hours=1), NOW + timedelta(hours=1)), list[str](), None
    while found := await store.between(*span, after=after, limit=2):
        assert len(found) <= 2
        seen += [each.document.label for each in found]
        after = SALES.place(found[-1].document)
    assert seen == ["a@1", "b@2", "b@3", "c@1"]  # the first of b ended as it began
    assert await store.between(*span, countries=["ID"], limit=2) == []


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
