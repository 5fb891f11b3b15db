"""Single codes of offers: used codes held against the reservations that were redeemed with one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from abacus.engage.offers.decide.offer import Audience
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.oversight.reconcile.decide.lines import ComparedCounts
from abacus.oversight.reconcile.messages import LONG_S
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

# Of each offer how many reservations it has, and the sum of their ids.
_Ids: TypeAlias = Mapping[str, tuple[int, int]]

_REDEEMED: Final = f"status = '{ReservationStatus.REDEEMED}'"

# A part of an id, as a number: numbers of many ids are equal where the ids are.
_PRINT: Final = "sum(('x' || substr(md5(reservation_id::text), 1, 8))::bit(32)::bigint)::bigint"

_VERSIONS: Final = f"""
select name, version from offer where document ->> 'audience' = '{Audience.CODE}' and document ->> 'code' is null
"""
_USED: Final = f"""
select p.offer, count(*), {_PRINT} from offer_code_use u join offer_pool p on p.number = u.pool
where u.used_at is not null group by p.offer
"""
_HELD: Final = "select reservation_id from offer_code_use where used_at is null"
_REDEEMED_BY_VERSION: Final = f"""
select offer, version, count(*), {_PRINT} from offer_reservation where {_REDEEMED} group by offer, version
"""
# Of codes whose reservation was redeemed a moment ago nobody has noted yet that they are used.
_JUST_USED: Final = Statement(f"""
select offer, count(*), {_PRINT} from offer_reservation
where reservation_id = any(:ids::uuid[]) and {_REDEEMED} group by offer
""")


async def compared_codes(connection: Connection) -> list[ComparedCounts]:
    """Within the transaction whose snapshot the account is of."""
    coded = {tuple(row) for row in await connection.fetch(_VERSIONS)}
    if not coded:
        return []
    held = [row["reservation_id"] for row in await connection.fetch(_HELD, timeout=LONG_S)]
    of_codes = _added(
        await connection.fetch(_USED, timeout=LONG_S), await slices.sums(connection, _JUST_USED(ids=held), facts=1)
    )
    rows = await slices.sums(connection, (_REDEEMED_BY_VERSION,), facts=2)
    of_reservations = _added((offer, *rest) for offer, version, *rest in rows if (offer, version) in coded)
    differing = of_codes.items() ^ of_reservations.items()
    return [
        ComparedCounts("single codes used", _count(of_codes), "redemptions that take one", _count(of_reservations)),
        ComparedCounts(
            "offers whose used codes are not those of their redemptions",
            len({offer for offer, _ in differing}),
            "expected",
            0,
        ),
    ]


def _added(*parts: Iterable[Sequence[Any]]) -> _Ids:
    found: dict[str, tuple[int, int]] = {}
    for offer, count, prints in chain(*parts):
        before = found.get(offer, (0, 0))
        found[offer] = before[0] + count, before[1] + prints
    return found


def _count(ids: _Ids) -> int:
    return sum(count for count, _ in ids.values())
