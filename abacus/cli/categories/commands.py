"""`abacus categories`: the categories of products of each country, which offers name."""

from typing import Any, Final

from abacus.cli.categories.family import FAMILY
from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.types import Record
from abacus.engage.categories.decide.tree import Categories
from abacus.engage.categories.kind import CATEGORIES

app = CommandGroup(no_args_is_help=True, help="Categories of products, by country: a tree of three levels for offers.")


def _row(record: Record[Categories]) -> dict[str, Any]:
    return {
        "name": CATEGORIES.label(record),
        "widest": list(record.document.tree),
        "categories": len(record.document.above),
        "published": record.published_at,
        "by": record.published_by,
    }


_ROWS: Final = Rows(title="Categories", columns=("name", "widest", "categories", "published", "by"), row=_row)
add_commands(app, FAMILY, _ROWS)
