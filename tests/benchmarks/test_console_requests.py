"""The benchmark of the console asks for every page that is served."""

import pytest

from abacus.console.app import SERVED
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.routes import Served, page
from benchmarks.console_requests import requests_of

PAGES = [each.path for each in SERVED if each.method == "GET" and not each.is_stream]


async def _shown(_: Call) -> Page:
    raise AssertionError


def test_every_page_is_asked_for_about_something_that_the_house_has() -> None:
    asked = {each.name: each.address(3, 1_000_000) for each in requests_of(SERVED)}
    assert [path for path in PAGES if path not in asked] == []
    assert [address for address in asked.values() if "{" in address] == []


@pytest.mark.parametrize("path", ["/places/{place}", "/offers/{offer:uuid}/runs"])
def test_a_page_about_something_new_is_noticed(path: str) -> None:
    new: list[Served] = [page("/", _shown), page(path, _shown)]
    with pytest.raises(LookupError, match="nothing to show there"):
        requests_of(new)


def test_members_and_transfers_are_others_each_time() -> None:
    asked = {each.name: each for each in requests_of(SERVED)}
    for path in ("/members/{member:path}", "/transfers/{key:path}"):
        addresses = {asked[path].address(turn, 1_000_000) for turn in range(60)}
        assert len(addresses) == 60
