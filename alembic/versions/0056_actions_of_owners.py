"""Actions that wait for their time belong to an owner of any kind: so far, all owners are campaigns."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

INDEX = "receiver_due_at_idx"


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _give_owners(schema: str = "") -> None:
    """No schema is the one of the session: there is a sandbox, too."""
    at = f"{schema}." if schema else ""
    op.execute(f"alter table {at}campaign_action rename column campaign to owner")
    op.execute(f"alter table {at}campaign_action add column owner_kind text collate \"C\" not null default 'campaign'")
    op.execute(f"alter table {at}campaign_action alter column owner_kind drop default")
    op.execute(f"alter table {at}campaign_action rename to action")
    op.execute(f"alter index {at}campaign_action_pkey rename to action_pkey")
    op.execute(f"alter index {at}campaign_action_{INDEX} rename to action_{INDEX}")


def _take_owners(schema: str = "") -> None:
    at = f"{schema}." if schema else ""
    op.execute(f"delete from {at}action where owner_kind <> 'campaign'")
    op.execute(f"alter index {at}action_{INDEX} rename to campaign_action_{INDEX}")
    op.execute(f"alter index {at}action_pkey rename to campaign_action_pkey")
    op.execute(f"alter table {at}action drop column owner_kind")
    op.execute(f"alter table {at}action rename column owner to campaign")
    op.execute(f"alter table {at}action rename to campaign_action")


def _view(name: str, slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.{name}" for schema in slices)
    op.execute(f"create view public.{name} as {rows}")
    op.execute(f"grant select on public.{name} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _give_owners(f"slice_{number}")


def upgrade() -> None:
    if slices := _slices():
        op.execute("drop view public.campaign_action")
        _view("action", slices)
    else:
        _give_owners()


def downgrade() -> None:
    if slices := _slices():
        op.execute("drop view public.action")
        for schema in slices:
            _take_owners(schema)
        _view("campaign_action", slices)
    else:
        _take_owners()
