"""The offers in force, as a process keeps them while others are published."""

from datetime import timedelta
from typing import Final

import pytest

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.offers.directory import OfferDirectory
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from tests.support.offers import document, run_offers

pytestmark = pytest.mark.once

_MANY: Final = """
insert into offer (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by, changed_at,
    changed_by)
select 'm_' || each, 1, country, starts_at, ends_at, document, 'ended', drafted_at, drafted_by, changed_at, changed_by
from offer, generate_series(1, 5000) each where name = 'first'
"""


async def test_what_changed_is_read_whatever_else_has_changed(pool: Pool) -> None:
    """Changes of a minute are read again and again: here are several pages of them."""
    clock, store = SystemClock(), OfferStore(pool)
    directory = OfferDirectory(pool, clock, lambda _: None)
    await run_offers(pool, document(name="first"), document(name="second"), document(name="third"))
    await directory.refresh()
    await pool.execute(_MANY)
    by_ann = Change("person:ann", clock.now())
    await store.move("first", None, Act.PAUSE, by_ann)
    await store.move("third", None, Act.END, by_ann)
    await run_offers(pool, document(name="second", priority=1), document(name="fourth"))
    await directory.refresh()
    assert in_force(directory) == {"second": 2, "fourth": 1}
    await store.move("first", None, Act.RESUME, Change("person:ann", clock.now() + timedelta(seconds=1)))
    await directory.refresh()
    assert in_force(directory) == {"first": 1, "second": 2, "fourth": 1}


def in_force(directory: OfferDirectory) -> dict[str, int]:
    return {each.name: each.version for each in directory.offers()}
