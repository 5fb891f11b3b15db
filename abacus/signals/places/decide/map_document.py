"""Maps of countries, read from documents and written again. Pure."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from abacus.core import fields
from abacus.core.fields import COUNTRY_PATTERN, Bad, DocumentFaults, Fields, quoted, shown, string
from abacus.core.points import plain
from abacus.documents.decide.texts import faults_of_text
from abacus.documents.decide.version_words import Labels
from abacus.pricing.decide.figures import amount
from abacus.signals.places.decide.country_map import TYPICAL_POINTS, USUAL_FOLLOWING, USUAL_SHARE, CountryMap, Following

LABELS: Final = Labels("map", COUNTRY_PATTERN, "SG")
KIND_PATTERN: Final = "[a-z][a-z0-9_]{0,31}"
MOST_KINDS: Final = 50
MOST_HOLIDAYS: Final = 400
BY_THE_CARD: Final = f"what earns {TYPICAL_POINTS} points where the rate card gives least"
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
HIGHEST_PRIORITY: Final = 1_000
LARGEST_SHARE: Final = 50
FARTHEST_M: Final = 5_000
MOST_MINUTES: Final = 24 * 60

read_kind: Final = fields.matching(
    re.compile(KIND_PATTERN), "is not a kind; write at most 32 small letters, digits and underscores (sales_region)"
)
read_priority: Final = fields.whole(0, HIGHEST_PRIORITY)


def parse_map(document: Mapping[str, object]) -> CountryMap:
    """Raises `DocumentFaults` with every fault of a document."""
    faults = faults_of_text(document)
    top = Fields(document, "", faults)
    map_ = CountryMap(
        country=top.read("country", fields.country, ""),
        timezone=top.read("timezone", fields.time_zone, "UTC"),
        kinds=_kinds(top.table("kinds", optional=True)),
        second_person_above=top.read_if_there("second_person_above", fields.whole(0, LARGEST_SHARE), USUAL_SHARE),
        typical_purchase=top.read_if_there("typical_purchase", amount, None),
        holidays=top.read_if_there("holidays", _holidays, frozenset()),
        positions=_following(top.table("positions", optional=True)),
    )
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return map_


def to_document(map_: CountryMap) -> dict[str, object]:
    """As `parse_map` reads it. What is as usual is left out."""
    document: dict[str, object] = {"country": map_.country, "timezone": map_.timezone}
    if map_.second_person_above != USUAL_SHARE:
        document["second_person_above"] = map_.second_person_above
    if map_.typical_purchase is not None:
        document["typical_purchase"] = plain(map_.typical_purchase)
    if map_.holidays:
        document["holidays"] = [day.isoformat() for day in sorted(map_.holidays)]
    if map_.kinds:
        document["kinds"] = dict(map_.kinds)
    following = map_.positions._asdict()
    if positions := {name: value for name, value in following.items() if value != getattr(USUAL_FOLLOWING, name)}:
        document["positions"] = positions
    return document


def described(map_: CountryMap) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    yield "country", map_.country
    yield "timezone", map_.timezone
    yield "second_person_above", f"{map_.second_person_above} % of the regions"
    yield "typical_purchase", BY_THE_CARD if map_.typical_purchase is None else plain(map_.typical_purchase)
    yield "holidays", ", ".join(day.isoformat() for day in sorted(map_.holidays)) or "none"
    for kind, priority in map_.kinds.items():
        yield f"kinds.{kind}", f"priority {priority}"
    yield "positions.leave_after_m", f"{map_.positions.leave_after_m} m"
    yield "positions.once_in_minutes", f"{map_.positions.once_in_minutes} min"


def _kinds(table: Fields) -> dict[str, int]:
    return {kind: table.read(kind, read_priority, 0) for kind in table.names(read_kind, at_most=MOST_KINDS)}


def _holidays(value: object) -> frozenset[date]:
    if not isinstance(value, list | tuple):
        raise Bad(f'{shown(value)}; write an array of days, such as ["2026-12-25"]')
    if len(value) > MOST_HOLIDAYS:
        raise Bad(f"{len(value):,} days; write at most {MOST_HOLIDAYS}")
    return frozenset(map(_day, value))


def _day(value: object) -> date:
    text = string(value)
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise Bad(f"{quoted(text)} is not a day such as 2026-12-25")


def _following(table: Fields) -> Following:
    following = Following(
        table.read_if_there("leave_after_m", fields.whole(0, FARTHEST_M), USUAL_FOLLOWING.leave_after_m),
        table.read_if_there("once_in_minutes", fields.whole(1, MOST_MINUTES), USUAL_FOLLOWING.once_in_minutes),
    )
    table.refuse_unknown()
    return following
