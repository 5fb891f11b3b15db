"""`abacus places`: where members are. The map of each country, its regions and its places."""

from typing import Any, Final

from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.places.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.types import Record
from abacus.signals.places.decide.country_map import CountryMap
from abacus.signals.places.kind import MAPS

app = CommandGroup(no_args_is_help=True, help="Places: the map of each country, its regions, and shops in it.")


def _row(record: Record[CountryMap]) -> dict[str, Any]:
    map_ = record.document
    return {
        "name": MAPS.label(record),
        "timezone": map_.timezone,
        "kinds": dict(map_.kinds),
        "second_person_above": map_.second_person_above,
        "published": record.published_at,
        "by": record.published_by,
    }


_ROWS: Final = Rows(
    title="Maps",
    columns=("name", "timezone", "kinds", "second_person_above", "published", "by"),
    row=_row,
)
add_commands(app, FAMILY, _ROWS)
