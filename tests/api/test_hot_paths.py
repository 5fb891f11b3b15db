"""Paths of hot routes: a path finds the route that the framework would take, and no other."""

import pytest

from abacus.api.hot_paths import Address, HotPaths, first_that_fits

pytestmark = pytest.mark.once

PATHS = HotPaths(
    {
        Address("POST", "/v1/awards"): "award",
        Address("GET", "/v1/members/{member_id:path}"): "member",
        Address("POST", "/v1/members/{member_id:path}/spend"): "spend",
        Address("POST", "/v1/members/{member_id:path}/holds"): "hold",
        Address("POST", "/v1/members/{member_id:path}/holds/{hold_id}/capture"): "capture",
    }
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("POST /v1/awards", ("award", {})),
        ("GET /v1/awards", None),
        ("POST /v1/awards/", None),
        ("GET /v1/members/bob", ("member", {"member_id": "bob"})),
        ("GET /v1/members/", None),
        ("GET /v1/members/bob/transfers", None),
        ("POST /v1/members/bob/spend", ("spend", {"member_id": "bob"})),
        ("POST /v1/members/spend/spend", ("spend", {"member_id": "spend"})),
        ("POST /v1/members/a/b/spend", None),
        ("POST /v1/members//spend", None),
        ("POST /v1/members/bob/holds", ("hold", {"member_id": "bob"})),
        ("POST /v1/members/bob/holds/7/capture", ("capture", {"member_id": "bob", "hold_id": "7"})),
        ("POST /v1/members/bob/holds/7/release", None),
    ],
)
def test_a_path_finds_its_route(asked: str, found: tuple[str, dict[str, str]] | None) -> None:
    assert PATHS.find(*asked.split()) == found


def test_a_part_that_not_every_text_fits_is_none_of_a_hot_path() -> None:
    with pytest.raises(ValueError, match="uuid"):
        HotPaths({Address("GET", "/v1/awards/{award_id:uuid}"): "award"})


@pytest.mark.parametrize(
    ("earlier", "path", "first"),
    [
        ("/v1/members/{id:path}/transfers", "/v1/members/{id:path}", None),
        ("/v1/members/batch", "/v1/members/{id:path}", "/v1/members/batch"),
        ("/v1/{what}/{id}", "/v1/members/{id:path}", "/v1/{what}/{id}"),
        ("/{path:path}", "/v1/members/{id:path}", "/{path:path}"),
        ("/v1/members/{id:path}/holds", "/v1/members/{id:path}/spend", None),
        ("/v1/members/{id:path}/{what}", "/v1/members/{id:path}/spend", "/v1/members/{id:path}/{what}"),
        ("/v1/members/{id:path}/spend", "/v1/members/{id}/holds/{hold}/spend", "/v1/members/{id:path}/spend"),
        ("/v1/members/{id}/spend", "/v1/members/{id}/holds/{hold}/spend", None),
        ("/v1/awards", "/v1/awards", "/v1/awards"),
    ],
)
def test_an_earlier_route_takes_what_it_fits(earlier: str, path: str, first: str | None) -> None:
    assert first_that_fits(path, [earlier]) == first
