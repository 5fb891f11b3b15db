from collections import Counter

from benchmarks.phones import PEAK, Box, of_the_busiest_hour, requests
from benchmarks.places_keys import by_request, geohash, rounded_to

CITY = Box(103.6, 1.2, 104.0, 1.5)
MADE = list(requests(24_000, 500, CITY))


def test_the_busiest_hour_has_three_times_the_requests_of_an_average_one() -> None:
    assert abs(len(of_the_busiest_hour(iter(MADE))) / 1_000 - PEAK) < 0.2


def test_few_members_ask_often_and_many_seldom() -> None:
    times = sorted(Counter(each.member for each in MADE).values(), reverse=True)
    assert times[0] > 10 * times[100]


def test_a_phone_at_rest_sends_another_point_each_time_but_for_requests_that_are_sent_again() -> None:
    keys = {by_request(each.lat, each.lon) for each in MADE}
    assert 0.92 < len(keys) / len(MADE) < 0.96


def test_a_geohash_is_the_usual_one_and_rounding_joins_neighbours() -> None:
    assert geohash(57.64911, 10.40744) == "u4pruyd"
    assert rounded_to(3)(1.30041, 103.80012) == rounded_to(3)(1.29962, 103.80048)
    assert rounded_to(4)(1.30041, 103.80012) != rounded_to(4)(1.29962, 103.80048)
