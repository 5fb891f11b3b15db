"""A hold may have no end: then it names the source that alone settles it, an exchange's. What was said of an exchange
is forgotten with its member.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0099"
down_revision = "0098"
branch_labels = None
depends_on = None


TURNS = """
create or replace trigger exchange_turn_is_append_only before update or delete or truncate on exchange_turn
    for each statement execute function abacus_refuse_change({})
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _change(prefix: str = "") -> None:
    """Without a prefix in the schema of the session: there is a sandbox, too. No row is rewritten for it."""
    op.execute(f"""
        alter table {prefix}hold alter column until drop not null, add column settled_by text collate "C",
            add constraint hold_end_check check ((until is null) = (settled_by is not null))
    """)


def _change_back(prefix: str = "") -> None:
    op.execute(f"alter table {prefix}hold drop column settled_by, alter column until set not null")


def _view(slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.hold" for schema in slices)
    op.execute(f"create or replace view public.hold as {rows}")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _change(f"slice_{number}.")


def upgrade() -> None:
    op.execute(TURNS.format("'but for erasure'"))
    if slices := _slices():
        _view(slices)
    else:
        _change()


def downgrade() -> None:
    """Refused where a hold has no end."""
    if op.get_bind().scalar(sa.text("select exists (select from hold where until is null)")):
        raise RuntimeError("holds of exchanges have no end; they cannot be kept with one")
    op.execute(TURNS.format(""))
    if slices := _slices():
        op.execute("drop view public.hold")
        for schema in slices:
            _change_back(f"{schema}.")
        _view(slices)
        op.execute("grant select on public.hold to abacus_app")
    else:
        _change_back()
