"""The scripts of migrations: they make a ledger's tables, and the rules that keep them."""

from typing import Final

TABLES: Final = "alembic/versions/0045_tables.sql"
RULES: Final = "alembic/versions/0045_rules.sql"
GENERATIONS: Final = "alembic/versions/0108_rules.sql"
