"""What was asked for before a programme was paused or ended is still carried out, and its books are kept."""

from datetime import timedelta

from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.exchange_rows import enter
from abacus.exchanges.position_rows import EntryDraft, locked_standings, write_entries
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.programmes_at_work import LATELY, ProgrammesAtWork
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchanged import exchange
from tests.support.exchanges import CARDS, NOW, SKYMILES, enter_partner, run_programme
from tests.support.fixed_clock import FixedClock


async def test_a_programme_is_at_work_until_long_after_its_last_entry(pool: Pool) -> None:
    clock, store = FixedClock(NOW), ProgrammeStore(pool)
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, clock)
    made = [await run_programme(pool, {**SKYMILES, "name": name}) for name in ("skymiles", "bankpoints", "unused")]
    directory = ProgrammeDirectory(pool, clock)
    await directory.refresh()
    await enter(pool, [exchange(State.SENT)])
    held = EntryDraft("bankpoints", EntryKind.HELD, made[0].directions[Direction.OUT].price, "SGD", "app")
    async with pool.acquire() as connection, connection.transaction():
        locked = await locked_standings(connection, {"skymiles", "bankpoints"})
        await write_entries(connection, locked, [held], NOW)
    for each in made:
        await store.move(each.name, None, Act.END, Change("person:ann", NOW, "so"))

    async def at_work() -> list[str]:
        """As a process knows it that has just begun."""
        await directory.refresh()
        working = ProgrammesAtWork(pool, directory.value, ProgrammeVersions(store), clock)
        return sorted(each.name for each in await working())

    assert await at_work() == ["bankpoints", "skymiles"]
    clock.set(NOW + LATELY + timedelta(days=1))
    assert await at_work() == ["skymiles"]  # its exchange is not through yet
    await pool.execute("update exchange set state = 'captured', ended_at = now()")
    assert await at_work() == []
