"""The baseline: every table of a ledger, then the functions, triggers and rights that keep them.

It makes what the revisions 0001 to 0045 made one after the other.
"""

from pathlib import Path

from alembic import op

revision = "0045"
down_revision = None
branch_labels = None
depends_on = None

SCRIPTS = ("0045_tables.sql", "0045_rules.sql")

# Functions with their owner's rights remember it: a temporary table of the caller comes last.
SEARCH_PATH = "select set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"


def upgrade() -> None:
    op.execute(SEARCH_PATH)
    connection = op.get_bind().connection.dbapi_connection
    for name in SCRIPTS:
        script = Path(__file__).with_name(name).read_text(encoding="utf-8")
        connection.run_async(lambda asyncpg, script=script: asyncpg.execute(script))


def downgrade() -> None:
    raise NotImplementedError("there is nothing before the baseline")
