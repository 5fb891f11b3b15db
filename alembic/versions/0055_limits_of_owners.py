"""Limits that all members share belong to an owner of any kind: so far, all owners are campaigns."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

RENAMED = {"campaign_pot": "limit_pot", "campaign_slot": "limit_slot"}
KEYS = {"campaign_pot": "period", "campaign_slot": "period, slot"}


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _give_owners(table: str, schema: str = "") -> None:
    """No schema is the one of the session: there is a sandbox, too."""
    place, name, key = f"{schema}.{table}" if schema else table, RENAMED[table], KEYS[table]
    op.execute(f"alter table {place} drop constraint {table}_pkey")
    op.execute(f"alter table {place} rename column campaign to owner")
    op.execute(f"alter table {place} add column owner_kind text collate \"C\" not null default 'campaign'")
    op.execute(f"alter table {place} alter column owner_kind drop default")
    op.execute(f"alter table {place} add constraint {name}_pkey primary key (owner_kind, owner, {key})")
    op.execute(f"alter table {place} rename to {name}")


def _take_owners(table: str, schema: str = "") -> None:
    name, key = RENAMED[table], KEYS[table]
    place = f"{schema}.{name}" if schema else name
    op.execute(f"delete from {place} where owner_kind <> 'campaign'")
    op.execute(f"alter table {place} drop constraint {name}_pkey")
    op.execute(f"alter table {place} drop column owner_kind")
    op.execute(f"alter table {place} rename column owner to campaign")
    op.execute(f"alter table {place} add constraint {table}_pkey primary key (campaign, {key})")
    op.execute(f"alter table {place} rename to {table}")


def _view(name: str, slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.{name}" for schema in slices)
    op.execute(f"create view public.{name} as {rows}")
    op.execute(f"grant select on public.{name} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _give_owners("campaign_slot", f"slice_{number}")


def upgrade() -> None:
    _give_owners("campaign_pot")
    if slices := _slices():
        op.execute("drop view public.campaign_slot")
        _view("limit_slot", slices)
    else:
        _give_owners("campaign_slot")


def downgrade() -> None:
    _take_owners("campaign_pot")
    if slices := _slices():
        op.execute("drop view public.limit_slot")
        for schema in slices:
            _take_owners("campaign_slot", schema)
        _view("campaign_slot", slices)
    else:
        _take_owners("campaign_slot")
