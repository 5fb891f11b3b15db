"""What the API notes of partners' requests: changes, and all that is refused; with what the partner was told."""

from collections.abc import Sequence
from typing import Final

import pytest

from abacus.intake.partners.requests.journal import LONGEST_DETAIL
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted
from abacus.ledger.types.limits import Limits
from tests.support.commands import abacus
from tests.support.house import House, until
from tests.support.shop import GRANT, award, register, shop
from tests.support.staff import hire

pytestmark = pytest.mark.once

TOO_MANY: Final = {**GRANT, "points": 500}


async def noted(house: House, count: int) -> Sequence[Noted]:
    """The oldest first."""
    store = RequestStore(house.pool)

    async def there() -> bool:
        return len(await store.latest("acme", refused=False, limit=100)) >= count

    await until(there)
    found = await store.latest("acme", refused=False, limit=100)
    assert len(found) == count
    return found[::-1]


@pytest.mark.long
async def test_changes_and_refusals_are_noted_and_reads_are_not(house: House) -> None:
    key = await register(house, limits=Limits(per_award=200))
    person = await hire(house.pool, "ann", "admin")
    async with shop(house) as opened:
        acme, ann, nobody = [await opened.caller(each) for each in (key, person, "abk_live_wrong")]
        accepted = await award(acme, "k1", GRANT, **{"X-Request-Id": "mine"})
        refused = await award(acme, "k2", TOO_MANY)
        assert (accepted.status_code, refused.status_code) == (202, 403)
        assert (await acme.get("/v1/members/bob%20the%20builder/points?as_of=never")).status_code == 422
        assert (await award(acme, "k3", {**GRANT, "member_id": "\0" * 300})).status_code == 422
        assert (await acme.get(f"/v1/awards/{accepted.json()['award_id']}")).status_code == 200
        for stranger in (ann, nobody):
            assert (await award(stranger, "k4")).status_code in {401, 403}
        a, b, c, d = await noted(house, 4)
    assert (a.request_id, a.method, a.path, a.status, a.mode) == ("mine", "POST", "/v1/awards", 202, "live")
    assert (a.problem, a.detail, a.is_refused) == (None, None, False)
    assert 0 < a.took_s < 30
    told = refused.json()
    assert (b.request_id, b.status, b.problem, b.detail) == (
        told["request_id"],
        *(403, "award-cap-exceeded"),
        told["detail"],
    )
    assert (c.method, c.status, c.problem) == ("GET", 422, "invalid")
    assert "bob" not in c.path
    assert (d.problem, d.detail is not None and len(d.detail) <= LONGEST_DETAIL) == ("invalid", True)


@pytest.mark.long
async def test_a_signature_that_does_not_hold_and_too_many_requests_are_noted(house: House) -> None:
    key = await register(house, requests_per_minute=2, signing_secret="abs_secret")
    async with shop(house) as opened:
        acme = await opened.caller(key)
        for _ in range(3):
            assert (await award(acme, "k1")).status_code in {401, 429}
        problems = sorted(each.problem or "" for each in await noted(house, 3))
    assert problems == ["bad-signature", "bad-signature", "too-many-requests"]


@pytest.mark.long
async def test_the_command_finds_one_by_its_id(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    key = await register(house, limits=Limits(per_award=200))
    async with shop(house) as opened:
        acme = await opened.caller(key)
        await award(acme, "k1", GRANT, **{"X-Request-Id": "fine"})
        await award(acme, "k2", TOO_MANY, **{"X-Request-Id": "odd"})
        await noted(house, 2)
    for more, ids in (
        ((), ["odd", "fine"]),
        (("--refused",), ["odd"]),
        (("--limit", "1"), ["odd"]),
        (("--request", "fine"), ["fine"]),
        (("--request", "fine", "--refused"), []),
        (("--request", "other"), []),
    ):
        told = await abacus("partners", "requests", "acme", *more, "--json", env=env)
        assert [each["request_id"] for each in told.json] == ids
    table = await abacus("partners", "requests", "acme", "--request", "odd", env=env)
    assert (table.code, "award-cap-exceeded" in table.out) == (0, True)
    assert (await abacus("partners", "requests", "zest", env=env)).code == 1
