"""The points of an account that lapse with a day, as SQL: the expiry preview and the warnings to members share it."""


def lapsing_points(day: str) -> str:
    """SQL for the points of a row of `account` that lapse with a day, not before its own `expires_on`: all available
    points, or in an account that lapses by lots, those of the lots that are good until then. `day` is SQL, too.
    """
    return f"""
case when lifetime then least(balance - held, (
    select coalesce(sum(least(capacity, greatest(0, capacity_up_to - lots_drawn))), 0)
    from (
        select t.expires_on as good_until, t.points - d.drawn as capacity,
            sum(t.points - d.drawn) over (order by t.seq) as capacity_up_to
        from transfer t cross join lateral (
            select coalesce(sum(d.points), 0) as drawn from draw d
            where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
        ) d
        where t.member_id = account.member_id and t.program = account.program and t.seq > account.lots_closed
            and t.points > 0
    ) lot
    where good_until <= {day}
))::bigint else balance - held end"""
