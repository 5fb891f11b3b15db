"""Files of places: what stands in a line or a feature, and where a fault is."""

import json
from pathlib import Path
from typing import Any

import pytest

from abacus.core.errors import Refused
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_document import Priced
from abacus.signals.places.decide.point import point
from abacus.signals.places.place_files import opened
from abacus.signals.places.place_spool import BadEntry, judge, spooling

PRICED = Priced({"SG"}, "SG")
TWO = [
    Place("s-1", "Corner, the", point(1.3, 103.8), "SG", "m", "b", ("food", "pizza"), "24/7", None, (("floor", "2"),)),
    Place("s-2", "Zwei", point(1.4, 103.9), "SG", "m"),
]
CSV = """\
id,name,merchant,brand,categories,lat,lon,hours,attributes.floor
s-1,"Corner, the",m,b,food; pizza,1.3,103.8,24/7,2
s-2,Zwei,m,,,1.4,103.9,,
"""

A_SHOP = {"id": "s-1", "name": "A", "merchant": "m"}


def feature(longitude: Any, latitude: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": "Point", "coordinates": [longitude, latitude]}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


FEATURES = [
    feature(
        103.8,
        1.3,
        id="s-1",
        name="Corner, the",
        merchant="m",
        brand="b",
        categories=["food", "pizza"],
        hours="24/7",
        attributes={"floor": "2"},
    ),
    {**feature(103.9, 1.4, name="Zwei", merchant="m"), "id": "s-2"},
]


def collection(*features: Any) -> str:
    return json.dumps({"type": "FeatureCollection", "features": features})


def read(file: Path, text: str, *, page: int = 1) -> tuple[list[Place], list[BadEntry]]:
    file.write_text(text, encoding="utf-8")
    faults: list[BadEntry] = []
    with opened(file) as entries, spooling() as spool:
        judged = judge(entries, PRICED, spool, faults.append, lambda: None, page=page)
        places = [each for some in spool.pages() for each in some]
    assert judged.total - judged.bad == sum(judged.countries.values()) == len(places)
    assert judged.faults == len(faults)
    return places, faults


@pytest.mark.parametrize(("name", "text"), [("p.csv", CSV), ("p.geojson", collection(*FEATURES))])
@pytest.mark.parametrize("page", [1, 10])
def test_a_file_has_its_places_in_their_order(tmp_path: Path, name: str, text: str, page: int) -> None:
    assert read(tmp_path / name, text, page=page) == (TWO, [])


def test_a_fault_of_a_csv_names_its_line_and_field(tmp_path: Path) -> None:
    lines = [
        "id,name,merchant,lat,lon,hours",
        "s-1,One,m,1.3,103.8,",
        "s-1,One,m,103.8,1.3,Mo-Fr",
        "s-2,Two,m,1.3,nan,",
        "s-1,Again,m,1.3,103.8,",
        "s-3,Three,m,1.3",
        "s-4,,m,1.3,103.8,",
    ]
    _, faults = read(tmp_path / "p.csv", "\n".join(lines))
    assert [(each.where, each.field) for each in faults] == [
        ("line 3", "lat"),
        ("line 3", "hours"),
        ("line 4", "lon"),
        ("line 5", "id"),
        ("line 6", ""),
        ("line 7", "name"),
    ]
    assert str(faults[0]) == "line 3: lat: it is not between -90 and 90; latitude and longitude look swapped"
    assert str(faults[3]) == "line 5: id: 's-1' stands at line 2 already"
    assert str(faults[5]) == "line 7: name: missing"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"type": "Point"}, "feature 1: no Feature"),
        ({**FEATURES[1], "geometry": None}, "feature 1: geometry: write a Point"),
        ({**FEATURES[1], "geometry": {"type": "Polygon", "coordinates": []}}, "feature 1: geometry: write a Point"),
        (feature(1, 2, lat=3), "feature 1: lat: stands in the geometry already"),
        (
            feature(103.8, None, id="s-1", name="A", merchant="m"),
            "feature 1 (s-1): lat: null; write a number of degrees",
        ),
        (
            feature(1.3, 103.8, id="s-1", name="A", merchant="m"),
            "feature 1 (s-1): lat: it is not between -90 and 90",
        ),
        (feature(103.8, 1.3, id="s-1", name="A", merchant="m", shop="yes"), "feature 1 (s-1): shop: unknown"),
    ],
)
def test_a_fault_of_a_geojson_names_its_feature(tmp_path: Path, wrong: Any, told: str) -> None:
    _, (fault,) = read(tmp_path / "p.geojson", collection(wrong))
    assert str(fault).startswith(told)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.csv", "", "it is empty"),
        ("p.csv", "id,name,merchant,lat\n", "no column 'lon'"),
        ("p.csv", "id,name,merchant,lat,lon,colour\n", "the column 'colour' is not known; columns are id, name"),
        ("p.csv", "id,id,name,merchant,lat,lon\n", "the column 'id' stands there twice"),
        ("p.geojson", "[]", "no FeatureCollection"),
        ("p.geojson", "{", "no JSON"),
        ("p.geojson", '{"type": "FeatureCollection", "features": [NaN]}', "no JSON"),
    ],
)
def test_a_file_that_has_no_places_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        read(tmp_path / name, text)
