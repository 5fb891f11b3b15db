"""What came of offers, read from the sums of their slices; how often they were shown is an estimate of a sample."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.outcomes import Outcome
from abacus.engage.offers.decide.report import Counted, Terms
from abacus.engage.offers.decide.report_parts import VersionPlace
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_GIVEN: Final = f"case outcome when '{Outcome.REDEEMED}' then {{0}} when '{Outcome.ROLLED_BACK}' then -{{0}} else 0 end"
_IN_THOSE_DAYS: Final = "between :since and :until and (:offer::text is null or offer = :offer)"


def _times(*outcomes: Outcome) -> str:
    named = ", ".join(f"'{each}'" for each in outcomes)
    return f"coalesce(sum(times) filter (where outcome in ({named})), 0)::bigint"


_SUMS: Final = Statement(f"""
select offer, version, happened_on, 0 as shown, {_times(Outcome.RESERVED)} as reserved,
    {_times(Outcome.REDEEMED)} as redeemed, {_times(Outcome.RELEASED, Outcome.EXPIRED)} as let_go,
    {_times(Outcome.ROLLED_BACK)} as rolled_back, sum({_GIVEN.format("saves")})::bigint as money,
    sum({_GIVEN.format("points")})::bigint as points
from offer_sum where happened_on {_IN_THOSE_DAYS} group by offer, version, happened_on
""")
_SHOWN: Final = Statement(f"""
select offer, version, day, sum(times)::bigint from offer_shown where day {_IN_THOSE_DAYS} group by offer, version, day
""")
_TERMS: Final = Statement("""
select o.name, o.version, o.country, o.document ->> 'currency', o.document -> 'paid_by' ->> 'cost_centre',
    o.document -> 'paid_by' ->> 'partner'
from unnest(:names::text[], :versions::integer[]) as u (name, version)
join offer o on o.name = u.name and o.version = u.version
""")


async def counted(connection: Connection, since: date, until: date, offer: str | None = None) -> Sequence[Counted]:
    """What came of all offers, or of one, on these days, both included. Raises `Unavailable`."""
    asked = {"since": since, "until": until, "offer": offer}
    found = {row[:3]: Counted(*row) for row in await slices.sums(connection, _SUMS(**asked), facts=3)}
    for name, version, day, shown in await connection.fetch(*_SHOWN(**asked)):
        place = name, version, day
        found[place] = found.get(place, Counted(*place, 0, 0, 0, 0, 0, 0, 0))._replace(shown=shown)
    return [each for _, each in sorted(found.items())]


async def terms_of(connection: Connection, versions: Iterable[VersionPlace]) -> Mapping[VersionPlace, Terms]:
    """Of these versions of offers. Raises `Unavailable`."""
    places = sorted(set(versions))
    names, numbers = [name for name, _ in places], [version for _, version in places]
    return {
        (name, version): Terms(country, currency or "", _payer(cost_centre, partner))
        for name, version, country, currency, cost_centre, partner in await connection.fetch(
            *_TERMS(names=names, versions=numbers)
        )
    }


def _payer(cost_centre: str | None, partner: str | None) -> Payer:
    return Payer("partner", partner) if partner is not None else Payer("cost_centre", cost_centre or "")
