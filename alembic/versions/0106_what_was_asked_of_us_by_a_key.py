"""What partners ask of us is told apart by keyed digests: those from before, by which accounts are guessed, go."""

from uuid import UUID

import sqlalchemy as sa
from alembic import op

revision = "0106"
down_revision = "0105"
branch_labels = None
depends_on = None

# An empty digest says that it is not known what was asked for; the id is enough for the same answer. Rows are locked in
# the order in which the product locks them.
PART = """
with part as (
    select exchange_id from exchange where exchange_id > :after order by exchange_id limit :most
), held as (
    select exchange_id from exchange join part using (exchange_id)
    where direction = 'in' and fingerprint <> '' order by exchange_id for update of exchange
), done as (
    update exchange e set fingerprint = '' from held where e.exchange_id = held.exchange_id
)
select exchange_id from part order by exchange_id desc limit 1
"""
MOST = 1000


def upgrade() -> None:
    # In parts, each on its own, while partners ask: what an interrupted run has done is passed over.
    part = sa.text(PART).bindparams(sa.bindparam("after", type_=sa.Uuid()), most=MOST)
    with op.get_context().autocommit_block():
        after = UUID(int=0)
        while after is not None:
            after = op.get_bind().scalar(part, {"after": after})


def downgrade() -> None:
    """The digests do not come back."""
