"""Offers are documents with states, categories are documents of a country, and a member's invitations are one row."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None

CHANGED = "status, changed_at, changed_by, approved_by, approved_at, reason"
INVITATION = "offer_invitation"

# A document is never changed. Of the versions of an offer one at most is in force.
OFFER = """
create table offer (
    name text collate "C" not null,
    version integer not null,
    country text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    document jsonb not null,
    status text not null,
    drafted_at timestamptz not null,
    drafted_by text not null,
    changed_at timestamptz not null,
    changed_by text not null,
    approved_by text,
    approved_at timestamptz,
    reason text,
    constraint offer_pkey primary key (name, version),
    constraint offer_approved_check check (status in ('draft', 'submitted', 'ended') or approved_by is not null)
);
create index offer_status_ends_at_idx on offer (status, ends_at);
create unique index offer_in_force on offer (name) where status in ('approved', 'paused')
"""

# All versions of an offer have one number: of offers that are alike the lower goes first, and invitations name it.
# Offers are drafted one after another.
NUMBER = """
create table offer_number (
    name text collate "C" not null,
    number integer not null,
    constraint offer_number_pkey primary key (name),
    constraint offer_number_number_key unique (number)
)
"""
GIVE_NUMBER = """
create function abacus_number_offer() returns trigger language plpgsql as $$
begin
    if not exists (select from offer_number n where n.name = new.name) then
        insert into offer_number select new.name, coalesce(max(n.number), 0) + 1 from offer_number n;
    end if;
    return null;
end $$
"""
CATEGORIES = """
create table category_tree (
    country text not null,
    version integer not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint category_tree_pkey primary key (country, version)
)
"""
RULES = f"""
create trigger offer_documents_are_append_only
    before update of name, version, document, country, starts_at, ends_at, drafted_at, drafted_by or delete or truncate
    on offer for each statement execute function abacus_refuse_change();
create trigger offer_is_announced after insert or update on offer
    for each statement execute function abacus_announce_change('offer');
create trigger offer_has_a_number after insert on offer for each row execute function abacus_number_offer();
create trigger offer_number_is_append_only before update or delete or truncate on offer_number
    for each statement execute function abacus_refuse_change();
create trigger category_tree_is_append_only before update or delete or truncate on category_tree
    for each statement execute function abacus_refuse_change();
create trigger category_tree_is_announced after insert on category_tree
    for each statement execute function abacus_announce_change('category_tree');
grant select, insert, update ({CHANGED}) on offer to abacus_app;
grant select, insert on offer_number to abacus_app;
grant select, insert on category_tree to abacus_app
"""

# The numbers of the offers that a member is invited to, in their order.
OF_MEMBERS = """
create table {at}offer_invitation (
    member_id text collate "C" not null,
    offers integer[] not null,
    constraint offer_invitation_pkey primary key (member_id)
);
grant select, insert, update (offers), delete on {at}offer_invitation to abacus_app
"""


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _each(statements: str) -> None:
    for statement in statements.split(";\n"):
        op.execute(statement)


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, slices: int) -> None:
    _each(OF_MEMBERS.format(at=f"slice_{number}."))
    op.execute(
        f"create trigger {INVITATION}_is_of_this_slice before insert or update of member_id"
        f" on slice_{number}.{INVITATION}"
        f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
        " execute function abacus_refuse_stranger()"
    )


def upgrade() -> None:
    _each(OFFER)
    op.execute(NUMBER)
    op.execute(GIVE_NUMBER)
    op.execute(CATEGORIES)
    _each(RULES)
    if slices := _slices():
        rows = " union all ".join(f"select * from {schema}.{INVITATION}" for schema in _schemas(slices))
        op.execute(f"create view public.{INVITATION} as {rows}")
        op.execute(f"grant select on public.{INVITATION} to abacus_app")
    else:
        _each(OF_MEMBERS.format(at=""))


def downgrade() -> None:
    if slices := _slices():
        op.execute(f"drop view public.{INVITATION}")
        for schema in _schemas(slices):
            op.execute(f"drop table {schema}.{INVITATION}")
    else:
        op.execute(f"drop table {INVITATION}")
    op.execute("drop table category_tree")
    op.execute("drop table offer")
    op.execute("drop function abacus_number_offer()")
    op.execute("drop table offer_number")
