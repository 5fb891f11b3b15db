"""The programmes in force, as each process keeps them: by name and by partner, with the plans of their rules."""

from dataclasses import replace

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.exchanges.decide.programmes import InForce
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.exchanges import CARDS, NOW, SKYMILES, around, enter_partner, programme, run_programme

GOLD = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}


async def test_a_programme_is_in_force_until_it_is_paused(pool: Pool) -> None:
    clock = SystemClock()
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, clock)
    await run_programme(pool, {**SKYMILES, "when": GOLD})
    await run_programme(pool, {**SKYMILES, "name": "bankpoints"})
    directory = ProgrammeDirectory(pool, clock)
    await directory.refresh()
    found = directory.value()
    assert [each.programme.label for each in found.of_partner("skyline")] == ["bankpoints@1", "skymiles@1"]
    assert (found.by_name["skymiles"].plan is None, found.by_name["bankpoints"].plan is None) == (False, True)
    await ProgrammeStore(pool).move("bankpoints", None, Act.PAUSE, Change("person:ann", clock.now(), "so"))
    await directory.refresh()
    after = directory.value()
    assert [each.programme.name for each in after.of_partner("skyline")] == ["skymiles"]
    assert after.by_name["skymiles"] is found.by_name["skymiles"], "its plan is kept"


def test_a_rule_that_does_not_fit_any_more_holds_for_nobody() -> None:
    regulars = programme(when={"operator": "eq", "lhs": "segment.regulars", "rhs": True})
    fits, misfits = InForce(regulars, around()), InForce(regulars, replace(around(), segments=frozenset()))
    assert (fits.plan is None, fits.misfit) == (False, None)
    assert misfits.plan is None
    assert misfits.misfit is not None
    assert misfits.misfit.path == "when.lhs"
