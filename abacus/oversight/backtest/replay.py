"""The awards of a time, priced again by a draft card in Postgres: the same formula as `formula`, in exact numerics.

Each award is priced by the facts that its explanation recorded, the tier among them. docs/adr/0019 says why this is not
the Python formula; a property test holds the two together.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import asyncpg

from abacus.core.errors import Reason, Refused
from abacus.core.points import MAX_POINTS, Rounding
from abacus.core.sources import is_partner_sql
from abacus.oversight.backtest.decide.difference import GRANTED, Backtest, Replayed
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement
from abacus.pricing.decide.card import RateCard
from abacus.pricing.explanation.sql import FACTS, FACTS_ARE_KNOWN, factor_of_facts

UNEXPLAINED: Final = "unexplained"  # no facts to price it by

# `round` of a numeric rounds half away from zero, and no amount is negative.
_ROUND: Final[Mapping[Rounding, str]] = {Rounding.FLOOR: "floor", Rounding.HALF_UP: "round", Rounding.CEIL: "ceil"}


def _statement(card: RateCard) -> Statement:
    return Statement(f"""
    with award as (
        select t.points, t.country, to_char(t.occurred_at at time zone :zone, 'YYYY-MM') as month,
            e.amount, e.currency, e.fixed, coalesce(e.granted_by, e.campaign) as granted_by,
            {factor_of_facts("vertical")} as vertical, {factor_of_facts("cashless")} as payment_type,
            {factor_of_facts("tier")} as tier, {FACTS_ARE_KNOWN} as is_known
        from transfer t
        cross join lateral {FACTS}
        where t.kind = 'earn' and t.occurred_at >= :since and t.occurred_at < :until
            and case when starts_with(:scope, 'partner:') then {is_partner_sql("t")}
                else t.country = :scope end
            and coalesce(split_part(e.card, '@', 1) = :scope, true)
    ), priced as (
        select a.*, f.points as fixed_points,
            {_ROUND[card.rounding]}(a.amount * v.times * :eppf::numeric * p.times * l.times) as product,
            case when not a.is_known then '{UNEXPLAINED}'
                when a.granted_by is not null then '{GRANTED}'
                when a.fixed is not null then null
                when a.amount is null or a.vertical is null then '{UNEXPLAINED}'
                when a.currency is distinct from :currency then '{Reason.UNKNOWN_CURRENCY}'
                when v.name is null then '{Reason.UNKNOWN_VERTICAL}'
                when p.name is null then '{Reason.UNKNOWN_PAYMENT_TYPE}'
                when l.name is null then '{Reason.UNKNOWN_TIER}' end as reason
        from award a
        left join unnest(:verticals::text[], :vertical_times::numeric[]) as v (name, times) on v.name = a.vertical
        left join unnest(:payment_types::text[], :payment_type_times::numeric[]) as p (name, times)
            on p.name = a.payment_type
        left join unnest(:tiers::text[], :tier_times::numeric[]) as l (name, times) on l.name = a.tier
        left join unnest(:fixed_awards::text[], :fixed_points::bigint[]) as f (name, points) on f.name = a.fixed
    ), summed as (
        select country, vertical, payment_type, tier, fixed, month, reason, product > {MAX_POINTS} as too_many,
            count(*) as awards, sum(points)::bigint as points, sum(product) as products,
            sum(fixed_points) as fixed_points
        from priced
        group by country, vertical, payment_type, tier, fixed, month, reason, too_many
    ), judged as (
        select *, coalesce(reason, case when too_many then '{Reason.OUT_OF_RANGE}' end) as why from summed
    )
    select country, coalesce(fixed, vertical, '-'), coalesce(payment_type, '-'), coalesce(tier, '-'), month, why,
        awards, points, coalesce(case when why is null then coalesce(fixed_points, products) end, 0)::bigint as drafted
    from judged
    """)


async def backtest(connection: Connection, card: RateCard, since: datetime, until: datetime) -> Backtest:
    """Price the awards of the card's scope that occurred from `since` on and before `until`, as if the card was in
    force then.

    Raises `Refused` for an explanation that nobody can read.
    """
    try:
        rows = await slices.rows_on(connection, _draft(card, since, until), within_s=LONG_S)
    except asyncpg.DataError as error:
        raise Refused(f"an award's explanation cannot be read: {error}; `abacus ledger verify` names it") from error
    return Backtest([Replayed(*row) for row in rows])


def _draft(card: RateCard, since: datetime, until: datetime) -> tuple[Any, ...]:
    """The statement with the card's values."""
    return _statement(card)(
        zone=card.timezone,
        since=since,
        until=until,
        scope=card.scope,
        eppf=card.eppf,
        currency=card.currency,
        verticals=list(card.verticals),
        vertical_times=list(card.verticals.values()),
        payment_types=list(card.payment_types),
        payment_type_times=list(card.payment_types.values()),
        tiers=list(card.tiers),
        tier_times=list(card.tiers.values()),
        fixed_awards=list(card.fixed_awards),
        fixed_points=list(card.fixed_awards.values()),
    )
