"""Who may have a reward: a rule over all that is known of the member, counted of it, and said by services."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import NotNow
from tests.support.rewards import Counter, around, give_points, load_codes, reward


def rule(operator: str, lhs: str, rhs: object) -> dict[str, Any]:
    return {"operator": operator, "lhs": lhs, "rhs": rhs}


FREQUENT: Final = rule("gte", "counter.visits(month)", 3)
LUCKY: Final = rule("eq", "external.lucky", rhs=True)
GOLD: Final = rule("eq", "member.tier", "gold")
RICH: Final = rule("gte", "member.balance", 1_000)
HERE: Final = rule("eq", "reward.country", "SG")
EITHER: Final = {"operator": "or", "conditions": [LUCKY, RICH]}


async def lucky_bob(_: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
    """By the facts of the request."""
    return [(each.member_id, each.country, each.id, each.type) == ("bob", "SG", "coffee", "asked") for each in events]


@pytest.mark.parametrize(
    ("when", "visits", "holds"),
    [
        (FREQUENT, 3, True),
        (FREQUENT, 2, False),
        (LUCKY, 0, True),
        (GOLD, 0, False),
        (RICH, 0, True),
        (rule("gt", "member.balance", 1_200), 0, False),
        (HERE, 0, True),
        ({"operator": "and", "conditions": [FREQUENT, LUCKY, RICH, HERE]}, 4, True),
    ],
)
async def test_a_reward_is_for_those_for_whom_its_rule_holds(
    pool: Pool,
    when: dict[str, Any],
    visits: int,
    holds: bool,  # noqa: FBT001  # the expected outcome of a row
) -> None:
    await give_points(pool, ["bob"], 1_200)
    await load_codes(pool, ["AAA"])
    at = Counter(pool, [reward(when=when)], visits=visits, services=lucky_bob)
    shown = await at.desk.listed("bob", await at.standings("bob"))
    assert ([each.reward.name for each in shown.listed], shown.is_degraded) == (["coffee"] if holds else [], False)
    if holds:
        assert (await at.redeem("1")).stage == "given"
        return
    with pytest.raises(Locked) as refused:
        await at.redeem("1")
    assert refused.value.lock is Lock.AUDIENCE


@pytest.mark.parametrize(
    ("when", "told"),
    [(LUCKY, False), (EITHER, True), (rule("gte", "counter.visits(7d)", 0), True)],
    ids=["it depends on the service", "the balance decides alone", "nothing is asked of the service"],
)
async def test_a_service_that_is_away_leaves_out_what_depends_on_it(
    pool: Pool,
    when: dict[str, Any],
    told: bool,  # noqa: FBT001  # the expected outcome of a row
) -> None:
    """A repetition under the same key can succeed later: nothing was refused."""
    await give_points(pool, ["bob"], 1_200)
    await load_codes(pool, ["AAA"])
    at = Counter(pool, [reward(when=when)])
    shown = await at.desk.listed("bob", await at.standings("bob"))
    assert (len(shown.listed), shown.is_degraded) == (int(told), not told)
    if not told:
        with pytest.raises(Unavailable, match="cannot be told now"):
            await at.redeem("1")
    assert (await Counter(pool, [reward(when=when)], services=lucky_bob).redeem("1")).stage == "given"


async def test_a_rule_that_fits_no_more_keeps_everybody_out_until_it_does(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1_200)
    at = Counter(pool, [reward(when=FREQUENT)], visits=3, published=replace(around(), counters={}))
    shown = await at.desk.listed("bob", await at.standings("bob"))
    assert (shown.listed, shown.is_degraded) == ([], True)
    with pytest.raises(Unavailable, match="coffee"):
        await at.redeem("1")
