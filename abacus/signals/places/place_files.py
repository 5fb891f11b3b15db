"""Files of places: CSV, Parquet and GeoJSON, a document each line or feature."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from pydantic_core import from_json

from abacus.core.errors import Refused
from abacus.platform.table_files import Row, Rows, open_table

ATTRIBUTES: Final = "attributes."  # how the column of an attribute begins
SEPARATOR: Final = ";"  # between the categories of a cell
_COLUMNS: Final = (*("id", "name", "country", "merchant", "brand", "categories", "lat", "lon", "hours", "timezone"),)
_NEEDED: Final = ("id", "name", "merchant", "lat", "lon")
_GEOJSON: Final = frozenset({".geojson", ".json"})
_LARGEST: Final = 512 * 1024 * 1024  # bytes of a GeoJSON file, which is read as one
_DEGREES: Final = ("lat", "lon")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]*)?")


class Entry(NamedTuple):
    """A document, and where it stands: `line 17`, or `feature 3`."""

    where: str
    document: Mapping[str, object]


class Unreadable(NamedTuple):
    """A line or a feature that holds no document; the next one follows it."""

    where: str
    why: str


class Entries(Protocol):
    """The documents of a file, and how far they are read: in bytes, rows or features."""

    total: int

    @property
    def done(self) -> int: ...

    def __iter__(self) -> Iterator[Entry | Unreadable]: ...


@contextmanager
def opened(path: Path) -> Iterator[Entries]:
    """By the end of the file's name. Raises `Refused` when the file cannot be read, or has other columns."""
    if path.suffix.lower() in _GEOJSON:
        yield _Features(path)
        return
    columns: list[str] = []

    def choose(names: Sequence[str]) -> tuple[int, ...]:
        columns.extend(_chosen(names))
        return tuple(range(len(names)))

    with open_table(path, choose) as rows:
        yield _Table(rows, columns)


class _Table:
    """An empty cell is a field that is not there."""

    def __init__(self, rows: Rows, columns: Sequence[str]) -> None:
        self.total = rows.total
        self._rows = rows
        self._plain = [(place, name) for place, name in enumerate(columns) if not name.startswith(ATTRIBUTES)]
        self._attributes = [
            (place, name.removeprefix(ATTRIBUTES)) for place, name in enumerate(columns) if name.startswith(ATTRIBUTES)
        ]

    @property
    def done(self) -> int:
        return self._rows.done

    def __iter__(self) -> Iterator[Entry | Unreadable]:
        for row in self._rows:
            where = f"line {row.number}"
            yield Entry(where, self._document(row.values)) if isinstance(row, Row) else Unreadable(where, row.why)

    def _document(self, values: Sequence[str]) -> Mapping[str, object]:
        document: dict[str, object] = {name: values[place] for place, name in self._plain if values[place]}
        if (categories := document.get("categories")) is not None:
            document["categories"] = [each.strip() for each in str(categories).split(SEPARATOR)]
        for name in _DEGREES:
            if name in document:
                document[name] = _number(str(document[name]))
        if attributes := {name: values[place] for place, name in self._attributes if values[place]}:
            document["attributes"] = attributes
        return document


class _Features:
    """The features of a collection, each a point with its properties."""

    def __init__(self, path: Path) -> None:
        self._features = _features(path)
        self.total = len(self._features)
        self.done = 0

    def __iter__(self) -> Iterator[Entry | Unreadable]:
        for number, feature in enumerate(self._features, 1):
            self.done = number
            yield _entry(f"feature {number}", feature)


def _chosen(names: Sequence[str]) -> list[str]:
    """Raises `Refused`."""
    if not names:
        raise Refused(f"it is empty; the first line has to name {', '.join(_NEEDED)}")
    columns = [name.strip() for name in names]
    wrong = [
        *(f"no column {name!r}" for name in _NEEDED if name not in columns),
        *(f"the column {name!r} is not known" for name in dict.fromkeys(columns) if not _is_known(name)),
        *(f"the column {name!r} stands there twice" for name in dict.fromkeys(columns) if columns.count(name) > 1),
    ]
    if wrong:
        raise Refused(f"{'; '.join(wrong)}; columns are {', '.join(_COLUMNS)}, and {ATTRIBUTES}NAME for each attribute")
    return columns


def _is_known(name: str) -> bool:
    return name in _COLUMNS or (name.startswith(ATTRIBUTES) and name != ATTRIBUTES)


def _number(text: str) -> object:
    """The number, or the text where it is none."""
    return float(text) if _NUMBER.fullmatch(text) else text


def _features(path: Path) -> Sequence[Any]:
    """Raises `Refused`."""
    try:
        if path.stat().st_size > _LARGEST:
            raise Refused(f"{path}: more than {_LARGEST // 1024 // 1024} MiB; write it as CSV")
        document = from_json(path.read_bytes(), allow_inf_nan=False)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise Refused(f"{path}: no JSON: {error}") from error
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list) or document.get("type") != "FeatureCollection":
        raise Refused(f'{path}: no FeatureCollection; write {{"type": "FeatureCollection", "features": […]}}')
    return features


def _entry(where: str, feature: object) -> Entry | Unreadable:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        return Unreadable(where, "no Feature")
    properties, geometry = feature.get("properties"), feature.get("geometry")
    if not isinstance(properties, dict | None):
        return Unreadable(where, "properties: write an object")
    if not isinstance(geometry, dict) or geometry.get("type") != "Point":
        return Unreadable(where, "geometry: write a Point")
    coordinates = geometry.get("coordinates")
    if not isinstance(coordinates, list) or len(coordinates) not in {2, 3}:
        return Unreadable(where, "coordinates: write longitude and latitude, in this order")
    document = {**(properties or {})}
    if twice := [name for name in _DEGREES if name in document]:
        return Unreadable(where, f"{twice[0]}: stands in the geometry already")
    if "id" in feature:
        document.setdefault("id", feature["id"])
    document["lon"], document["lat"] = coordinates[:2]
    said = document.get("id")
    return Entry(f"{where} ({said})" if isinstance(said, str) and said.isprintable() else where, document)
