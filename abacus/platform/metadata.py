"""The one SQLAlchemy metadata that every room's `tables` module registers with; migrations are checked against it."""

from typing import Final

from sqlalchemy import MetaData, Text

METADATA: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

# Keys compare by their bytes: the order does not depend on the server's language, and looking up costs less.
KEY_TEXT: Final = Text(collation="C")
