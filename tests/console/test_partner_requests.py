"""A partner's requests: found by their id, narrowed to what was refused, and paged."""

from datetime import timedelta
from uuid import UUID

import pytest

from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted
from abacus.platform.postgres import Pool
from tests.console.desk import Desk, desk


async def note(open_desk: Desk, *statuses: int) -> None:
    now = open_desk.clock.now()
    await RequestStore(open_desk.pool).add(
        [
            Noted(
                *("acme", now - timedelta(seconds=number), UUID(int=number), f"r{number}", "live"),
                *("POST", "/v1/awards", status, 0.004),
                *(("invalid", "<script>alert(1)</script>") if status >= 400 else (None, None)),
            )
            for number, status in enumerate(statuses)
        ]
    )


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ("", ["r0", "r1", "r2"]),
        ("?shown=refused", ["r1"]),
        ("?request=r2", ["r2"]),
        ("?request=r2&shown=refused", []),
        ("?request=none", []),
    ],
)
async def test_requests_are_narrowed(pool: Pool, asked: str, ids: list[str]) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        await note(open_desk, 202, 422, 202)
        eve = await open_desk.inside("eve", "viewer")
        there = await eve.twin(f"/partners/acme/requests{asked}")
        assert [each["request_id"] for each in there.json()["list"]["rows"]] == ids
        page = await eve.see(f"/partners/acme/requests{asked}")
        assert ("<script>alert" in page.text, all(each in page.text for each in ids)) == (False, True)


async def test_a_long_list_is_paged_to_its_end(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        await note(open_desk, *[422] * 120)
        eve = await open_desk.inside("eve", "viewer")
        address, ids = "/partners/acme/requests?shown=refused", []
        while address:
            found = (await eve.twin(address)).json()["list"]
            ids += [each["request_id"] for each in found["rows"]]
            address = found["more"]
        assert ids == [f"r{number}" for number in range(120)]


async def test_it_is_for_those_who_may_see_every_country(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        eve = await open_desk.inside("eve", "viewer:SG")
        assert (await eve.see("/partners/acme/requests")).status_code == 403
        ann = await open_desk.inside("ann", "viewer")
        assert (await ann.see("/partners/none/requests")).status_code == 404
