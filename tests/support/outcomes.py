"""Whether the ledger of a house holds the points that its messages ask for."""

from abacus.cli.examples.stream import Sent
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from tests.support.house import House


async def verified(house: House) -> bool:
    book = CardBook(await CardStore(house.pool).all())
    report = await verify(house.pool, lambda transfer: recompute(transfer, book))
    assert report.faults == []
    return report.clean


async def settled(house: House, expected: set[str]) -> bool:
    return int(await house.pool.fetchval("select count(*) from claim")) >= len(expected)


async def everything_awarded_once(house: House, messages: list[Sent]) -> None:
    expected = {sent.award for sent in messages if sent.award is not None}
    keys = [row["key"] for row in await house.pool.fetch("select key from transfer")]
    assert sorted(keys) == sorted(expected)
    assert await verified(house)
