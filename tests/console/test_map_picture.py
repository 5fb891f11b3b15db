import math

import pytest

from abacus.console.decide.map_picture import HEIGHT, WIDTH, Pin, drawn, view_around, view_of
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Region, Ring

HERE = view_of(1.3, 103.8, 0.4)


def square(name: str, west: float, south: float, side: float, *holes: Ring) -> Region:
    return Region(name, name.title(), "zone", 1, "SG", ((ring(west, south, side), *holes),))


def ring(west: float, south: float, side: float) -> tuple[Point, ...]:
    east, north = west + side, south + side
    return (west, south), (east, south), (east, north), (west, north), (west, south)


def test_a_click_means_the_point_that_is_drawn_there() -> None:
    lat, lon = HERE.clicked(HERE.x(103.85), HERE.y(1.25))
    assert (lat, lon) == pytest.approx((1.25, 103.85))


def test_a_kilometre_is_as_long_to_the_north_as_to_the_east() -> None:
    for lat in (0.0, 52.5, -70.0):
        view = view_of(lat, 13.4, 1.0)
        assert view.units / math.cos(math.radians(lat)) == pytest.approx(view.upright)


def test_what_is_clicked_beyond_the_antimeridian_has_a_longitude_there_is() -> None:
    _, lon = view_of(-16.5, 179.9, 1.0).clicked(WIDTH, HEIGHT / 2)
    assert lon == pytest.approx(-179.6)


def test_regions_in_the_view_are_drawn_with_their_holes_and_no_others() -> None:
    hole = ring(103.78, 1.28, 0.02)
    picture = drawn(HERE, [square("park", 103.75, 1.25, 0.1, hole), square("far", 110.0, 1.25, 0.1)], [])
    (area,) = picture.areas
    assert (area.region, area.path.count("M"), area.path.count("Z")) == ("park", 2, 2)


def test_a_region_over_the_antimeridian_is_seen_from_both_sides() -> None:
    fiji = square("fiji", 179.5, -17.0, 1.0)  # its longitudes go on beyond 180
    for lon in (179.9, -179.9):
        assert len(drawn(view_of(-16.5, lon, 0.4), [fiji], []).areas) == 1


def test_points_of_an_outline_that_nobody_could_tell_apart_are_left_out() -> None:
    fine = tuple((103.8 + 0.05 * math.cos(each / 5000), 1.3 + 0.05 * math.sin(each / 5000)) for each in range(31416))
    region = Region("round", "Round", "zone", 1, "SG", (((*fine, fine[0]),),))
    (area,) = drawn(HERE, [region], []).areas
    assert area.path.count("L") < 1_500


def test_places_that_lie_on_each_other_are_one_spot_which_names_some() -> None:
    pins = [Pin(f"p{each}", f"Shop {each}", (103.8 + each * 1e-6, 1.3)) for each in range(5)]
    picture = drawn(HERE, [], [*pins, Pin("q", "Apart", (103.9, 1.3)), Pin("far", "Far", (120.0, 1.3))])
    assert [(len(each.places), each.names[0]) for each in picture.spots] == [(5, "Shop 0"), (1, "Apart")]
    assert len(picture.spots[0].names) == 3


def test_a_view_around_points_shows_all_of_them_also_over_the_antimeridian() -> None:
    points = [(179.8, -16.0), (-179.7, -17.0)]
    view = view_around(points)
    assert view is not None
    spots = drawn(view, [], [Pin(str(each), "", each) for each in points]).spots
    assert sum(len(each.places) for each in spots) == 2
    assert view.span < 3


def test_no_points_have_no_view() -> None:
    assert view_around([]) is None


def test_a_view_stays_within_what_can_be_drawn() -> None:
    assert HERE.zoomed(1e9).span == 180
    assert HERE.zoomed(1e-9).span == 0.002
    assert view_of(90.0, 0.0, 1.0).moved(0, 5).lat == 85
    assert view_of(0.0, 179.0, 10.0).moved(0.5, 0).lon == pytest.approx(-176)
