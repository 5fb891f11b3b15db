"""A member with points, and its page."""

from typing import Final

from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Browser, Desk
from tests.support.cards import SINGAPORE
from tests.support.hooks import award, post

HERE: Final = "/members/bob"


async def opened(pool: Pool, open_desk: Desk, member: str = "bob") -> None:
    await CardStore(pool).publish(SINGAPORE, by="tests", now=open_desk.clock.now())
    await open_desk.rooms[CardReader].refresh()
    await post(pool, award(f"txn:rides:{member}", 100, member))
    open_desk.clock.pass_(seconds=60)  # what is done on the pages comes later


async def adjusted(who: Browser, points: str, reason: str = "sorry") -> str:
    sent = await who.send(HERE, f"{HERE}/adjust", adjust_points=points, adjust_reason=reason)
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


async def balance(pool: Pool, member: str = "bob") -> int:
    (account,) = await LedgerReader(pool).accounts(member)
    return account.balance
