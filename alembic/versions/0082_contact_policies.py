"""Policies of contact: caps of messages over all campaigns, quiet hours in the member's zone, and a holdout."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0082"
down_revision = "0081"
branch_labels = None
depends_on = None

POLICIES = """
create table contact_policy (
    country text not null,
    version integer not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    approved_by text,
    constraint contact_policy_pkey primary key (country, version)
);
create trigger contact_policy_is_append_only before update or delete or truncate on contact_policy
    for each statement execute function abacus_refuse_change();
create trigger contact_policy_is_announced after insert on contact_policy
    for each statement execute function abacus_announce_change('contact_policy');
grant select, insert on contact_policy to abacus_app
"""

# `owed`: the channels over which a notice waits, where it was told over others. A notification has the quiet hours of
# its member as they were when it was made.
COLUMNS = """
alter table {at}notice add column priority integer not null default 0, add column owed text[],
    add column waits_for text;
alter table {at}notification add column quiet_from time, add column quiet_until time, add column zone text;
alter table {at}notification_preference add column zone text;
grant update (owed, waits_for) on {at}notice to abacus_app;
grant update (zone) on {at}notification_preference to abacus_app
"""

# What caps count, by days of the member's calendar; and what a member was never told over a channel, with the reason.
TABLES = """
create table {at}message_count (
    member_id text collate "C" not null,
    channel text not null,
    kind text not null,
    day date not null,
    messages integer not null,
    constraint message_count_pkey primary key (member_id, channel, kind, day)
);
create index message_count_day_idx on {at}message_count (day);
create table {at}untold_message (
    member_id text collate "C" not null,
    event_id text collate "C" not null,
    channel text not null,
    kind text not null,
    owner text,
    cause text not null,
    why text not null,
    happened_at timestamptz not null,
    untold_at timestamptz not null,
    constraint untold_message_pkey primary key (member_id, event_id, channel)
);
create index untold_message_owner_idx on {at}untold_message (owner) where owner is not null;
create index untold_message_untold_at_idx on {at}untold_message (untold_at);
grant select, insert, delete, update (messages) on {at}message_count to abacus_app;
grant select, insert, delete on {at}untold_message to abacus_app
"""
CHANGED = ("notice", "notification", "notification_preference")
MADE = ("message_count", "untold_message")


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _do(statements: str) -> None:
    for each in statements.split(";\n"):
        op.execute(each)


def _rows(slices: Sequence[str], table: str) -> str:
    return " union all ".join(f"select * from {schema}.{table}" for schema in slices)


def _views(slices: Sequence[str], *tables: str) -> None:
    for table in tables:
        op.execute(f"create or replace view public.{table} as {_rows(slices, table)}")
        op.execute(f"grant select on public.{table} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _do(COLUMNS.format(at=f"slice_{number}."))
    _do(TABLES.format(at=f"slice_{number}."))


def upgrade() -> None:
    if slices := _slices():
        _views(slices, *CHANGED, *MADE)
    else:
        _do(COLUMNS.format(at=""))
        _do(TABLES.format(at=""))
    _do(POLICIES)


def downgrade() -> None:
    op.execute("drop table contact_policy")
    slices = _slices()
    if slices:
        for table in (*CHANGED, *MADE):
            op.execute(f"drop view public.{table}")
    for at in [f"{schema}." for schema in slices] or [""]:
        _do(f"""
drop table {at}untold_message;
drop table {at}message_count;
alter table {at}notification_preference drop column zone;
alter table {at}notification drop column quiet_from, drop column quiet_until, drop column zone;
alter table {at}notice drop column priority, drop column owed, drop column waits_for
""")
    if slices:
        _views(slices, *CHANGED)
