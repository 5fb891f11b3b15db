"""Members of a segment enter a journey in waves, which go on where they were."""

from alembic import op

revision = "0084"
down_revision = "0083"
branch_labels = None
depends_on = None

# What a journey has taken in of a segment since a time: the numbers of the members in the version that was looked at
# last, of these the members who join it by that version, and up to which number they have come to the gate.
WAVE = """
create table journey_wave (
    journey text collate "C" not null,
    wave text collate "C" not null,
    version integer not null,
    present bytea not null,
    joining bytea not null,
    upto integer not null,
    constraint journey_wave_pkey primary key (journey, wave)
)
"""
RIGHTS = "grant select, insert, update (version, present, joining, upto) on journey_wave to abacus_app"


def upgrade() -> None:
    op.execute(WAVE)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("drop table journey_wave")
