"""`abacus rates quote`: what a transaction earns on a day, without anybody's transaction."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.cards import SINGAPORE, times
from tests.support.commands import Ran, abacus

pytestmark = pytest.mark.once

Command = Callable[..., Awaitable[Ran]]
LUNCH = ("--country", "SG", "--vertical", "food", "--amount", "15.00", "--payment", "wallet")
DECEMBER = datetime.fromisoformat("2098-12-01T00:00:00+08:00")


@pytest.fixture
async def command(pool: Pool, database_url: str) -> Command:
    store = CardStore(pool)
    for card in (SINGAPORE, replace(SINGAPORE, effective_from=DECEMBER, verticals={"food": times("3")})):
        await store.publish(card, by="ann", now=SystemClock().now())

    async def quote(*words: str) -> Ran:
        return await abacus("rates", "quote", *words, env={"ABACUS_DATABASE_URL": database_url})

    return quote


async def test_for_people(command: Command) -> None:
    result = await command(*LUNCH, "--tier", "silver", "--at", "2098-12-02T12:00:00+08:00")
    assert result.out.splitlines() == [
        "135 GRP on 2098-12-02T12:00:00+08:00, by SG@2, scheduled from 2098-12-01T00:00:00+08:00",
        "15.00 SGD x 3 (vertical food) x 1 (eppf SG) x 2 (cashless wallet) x 1.5 (tier silver)",
        "= 135.000, floor = 135 points, by card SG@2",
        "good until 2099-06-30",
    ]


async def test_for_programs(command: Command) -> None:
    for words, points, card, scheduled in (
        ((), 60, "SG@1", False),
        (("--at", "2026-02-01T00:00:00Z"), 60, "SG@1", False),
        (("--at", "2098-12-02T00:00:00Z"), 90, "SG@2", True),
    ):
        said = json.loads((await command(*LUNCH, *words, "--json")).out)
        assert (said["points"], said["card"], said["scheduled"]) == (points, card, scheduled)
        assert said["explanation"]["amount"] == "15.00"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--at", "2025-01-01T00:00:00Z"), "2025-01-01T00:00:00+00:00 is before the first rate card of SG"),
        (("--at", "tomorrow"), "--at: 'tomorrow' is not a time"),
        (("--country", "XX"), "no rate card has the scope 'XX'"),
        (("--vertical", "boats"), "vertical 'boats' is not on the card of SG"),
        (("--tier", "gold"), "tier 'gold' is not on the card of SG"),
        (("--currency", "USD"), "currency USD; the card of SG is SGD"),
        (("--amount", "-1"), "--amount: a text of another form is needed"),
        (("--payment", "a b"), "--payment: a text of another form is needed"),
    ],
)
async def test_what_cannot_be_quoted(command: Command, words: tuple[str, ...], message: str) -> None:
    result = await command(*LUNCH, *words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"abacus: {message}")
