"""What was taken of offers: rows held against their sums, redemptions against their awards, and pots against rows."""

from collections.abc import Iterable
from typing import Any, Final

from abacus.engage.limits.pot_rows import used
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.outcomes import Outcome
from abacus.engage.offers.decide.reservation import TAKES, ReservationStatus
from abacus.oversight.reconcile.decide.lines import ComparedCounts
from abacus.oversight.reconcile.messages import LONG_S
from abacus.platform import slices
from abacus.platform.postgres import Connection

_ENDED: Final = f"'{Outcome.REDEEMED}', '{Outcome.RELEASED}', '{Outcome.EXPIRED}'"
_TAKES: Final = ", ".join(f"'{each}'" for each in TAKES)

# Of each offer: how often it was reserved and how that ended, by the sums; by the rows, how many there are, how many
# wait, and how many were redeemed; and the points of redemptions, by the rows and by their awards.
_TAKEN: Final = f"""
select offer, sum(reserved)::bigint, sum(ended)::bigint, sum(rows)::bigint, sum(held)::bigint,
    sum(redeemed)::bigint, sum(redemptions)::bigint, sum(points)::bigint, sum(awarded)::bigint
from (
    select offer, coalesce(sum(times) filter (where outcome = '{Outcome.RESERVED}'), 0) as reserved,
        coalesce(sum(times) filter (where outcome in ({_ENDED})), 0) as ended, 0 as rows, 0 as held,
        coalesce(sum(times) filter (where outcome = '{Outcome.REDEEMED}'), 0) as redeemed, 0 as redemptions,
        0 as points, 0 as awarded
    from offer_sum group by offer
    union all
    select offer, 0, 0, count(*), count(*) filter (where status = '{ReservationStatus.HELD}'), 0, 0, 0, 0
    from offer_reservation group by offer
    union all
    select offer, 0, 0, 0, 0, 0, count(*), sum(points), 0 from offer_redemption group by offer
    union all
    select owner, 0, 0, 0, 0, 0, 0, 0, sum((document ->> 'points')::bigint)
    from action where owner_kind = '{OWNER_KIND}' and number = 0 group by owner
) as each group by offer
"""

# Of each version what its sums say, less what its rows say: nothing is left. Points and cost are net of what was rolled
# back, as rows of reservations have them; money that was saved stays in these rows.
_TAKE: Final = f"outcome in ('{Outcome.RESERVED}', '{Outcome.CHANGED}')"
_NET: Final = f"case when {_TAKE} then 1 when outcome = '{Outcome.ROLLED_BACK}' then -1 else 0 end"
_TIMES: Final = ", ".join(
    f"coalesce(sum(times) filter (where outcome = '{each}'), 0) as {each}"
    for each in (Outcome.RESERVED, Outcome.REDEEMED, Outcome.RELEASED, Outcome.EXPIRED, Outcome.ROLLED_BACK)
)
_DIFFERENCES: Final = f"""
select offer, version, sum(reserved)::bigint, sum(redeemed)::bigint, sum(released)::bigint, sum(expired)::bigint,
    sum(rolled_back)::bigint, sum(gained)::bigint, sum(saved)::bigint, sum(saves_back)::bigint,
    sum(points_back)::bigint, sum(points)::bigint, sum(cost)::bigint
from (
    select offer, version, {_TIMES},
        coalesce(sum(saves) filter (where {_TAKE}), 0) as gained,
        coalesce(sum(saves) filter (where outcome = '{Outcome.REDEEMED}'), 0) as saved,
        coalesce(sum(saves) filter (where outcome = '{Outcome.ROLLED_BACK}'), 0) as saves_back,
        coalesce(sum(points) filter (where outcome = '{Outcome.ROLLED_BACK}'), 0) as points_back,
        sum(({_NET}) * points) as points, sum(({_NET}) * cost) as cost
    from offer_sum group by offer, version
    union all
    select offer, version, -count(*), 0,
        -count(*) filter (where status in ('{ReservationStatus.RELEASED}', '{ReservationStatus.REFUSED}')),
        -count(*) filter (where status = '{ReservationStatus.EXPIRED}'),
        -count(*) filter (where status = '{ReservationStatus.ROLLED_BACK}'),
        -sum(saves), 0, 0, 0, -sum(points), -sum(cost)
    from offer_reservation group by offer, version
    union all
    select offer, version, 0, -count(*), 0, 0, 0, 0, -sum(saves), -sum(saves_back), -sum(points_back), 0, 0
    from offer_redemption group by offer, version
) as each group by offer, version
"""

# What holds and redemptions take of each pot, of which they took.
_OF_POTS: Final = f"""
select offer, period, count(*), sum(cost)::bigint from (
    select offer, '' as period, cost from offer_reservation where status in ({_TAKES}) and pots & 1 > 0
    union all
    select offer, day::text, cost from offer_reservation where status in ({_TAKES}) and pots & 2 > 0
) as each group by offer, period
"""


async def compared_offers(connection: Connection) -> list[ComparedCounts]:
    """Within the transaction whose snapshot the account is of."""
    totals = [0] * 8
    for _, *counts in await slices.sums(connection, (_TAKEN,), facts=1, within_s=LONG_S):
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    reserved, ended, rows, held, redeemed, redemptions, points, awarded = totals
    if not rows and not reserved:
        return []
    differing = await slices.sums(connection, (_DIFFERENCES,), facts=2, within_s=LONG_S)
    beyond = await _beyond_their_rows(connection)
    return [
        ComparedCounts("offers reserved", reserved, "redeemed, released, expired and waiting", ended + held),
        ComparedCounts("reservations of offers", rows, "in their sums", reserved),
        ComparedCounts("redemptions of offers", redemptions, "in their sums", redeemed),
        ComparedCounts("points of redemptions", points, "in their awards", awarded),
        ComparedCounts("versions of offers whose sums are not of their rows", _counted(differing), "expected", 0),
        ComparedCounts("limits of offers from which more was taken than is used", beyond, "expected", 0),
    ]


def _counted(differences: Iterable[tuple[Any, ...]]) -> int:
    return sum(any(figures) for _, _, *figures in differences)


async def _beyond_their_rows(connection: Connection) -> int:
    """The pots that say less than the rows have taken. What was reserved before there was a limit, and let go later,
    never came back to it: so a pot may say more.
    """
    taken = {row[:2]: row[2:] for row in await slices.sums(connection, (_OF_POTS,), facts=2, within_s=LONG_S)}
    names = sorted({offer for offer, _ in taken})
    said = {(pot.owner, pot.period): each for pot, each in (await used(connection, OWNER_KIND, names, None)).items()}
    return sum(
        place not in said or said[place].runs < uses or said[place].cost < cost for place, (uses, cost) in taken.items()
    )
