"""What is not sent yet waits while its programme is paused, and waits for nothing once it is over."""

from datetime import datetime, timedelta

from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.partner_lines import PartnerLines
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.timeline import Timelines
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchanged import exchange
from tests.support.exchanges import CARDS, DAY, NOW, SKYMILES, enter_partner, run_programme
from tests.support.fixed_clock import FixedClock


async def _no_secrets(_: str) -> list[str]:
    return []


async def test_a_programme_that_is_paused_is_not_over(pool: Pool) -> None:
    clock, store = FixedClock(NOW), ProgrammeStore(pool)
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, clock)
    directory, versions = ProgrammeDirectory(pool, clock), ProgrammeVersions(store)
    timelines = Timelines(pool, clock)
    lines = PartnerLines(
        directory.value, versions, _no_secrets, FileRows(pool), clock, timelines=timelines, to_private=True
    )

    async def begins_and_is_over(now: datetime = NOW) -> tuple[bool, bool]:
        await directory.refresh()
        return lines.may_begin(exchange(), now), await lines.is_over("skymiles", now)

    await run_programme(pool)
    assert await begins_and_is_over() == (True, False)
    assert await begins_and_is_over(NOW - 41 * DAY) == (False, False)  # it begins later
    assert await begins_and_is_over(NOW + 30 * DAY) == (False, True)
    await store.move("skymiles", None, Act.PAUSE, Change("person:ann", NOW, "so"))
    assert await begins_and_is_over() == (False, False)
    assert await begins_and_is_over(NOW + 30 * DAY) == (False, True)
    await run_programme(pool, {**SKYMILES, "ends_at": (NOW + 60 * DAY).isoformat()})
    assert await begins_and_is_over(NOW + 30 * DAY) == (True, False)
    await store.move("skymiles", None, Act.END, Change("person:ann", NOW + timedelta(seconds=1), "so"))
    assert await begins_and_is_over() == (False, True)
