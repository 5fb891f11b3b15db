"""A member with points, its page, and what is done there: asked for, and confirmed."""

from typing import Final
from urllib.parse import quote

import httpx

from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Browser, Desk
from tests.support.cards import SINGAPORE
from tests.support.hooks import award, post

HERE: Final = "/members/bob"
REASON: Final = {"reason": "goodwill"}


async def opened(pool: Pool, open_desk: Desk, member: str = "bob") -> None:
    await CardStore(pool).publish(SINGAPORE, by="tests", now=open_desk.clock.now())
    await open_desk.rooms[CardReader].refresh()
    await post(pool, award(f"txn:rides:{member}", 100, member))
    open_desk.clock.pass_(seconds=60)  # what is done on the pages comes later


def place(act: str, member: str = "bob") -> str:
    return f"/members-{act}/{quote(member, safe='')}"


async def asked(who: Browser, act: str, member: str = "bob", **typed: str) -> httpx.Response:
    """The confirmation, or the form with what is wrong."""
    return await who.send(place(act, member), place(act, member), **typed)


async def done(who: Browser, act: str, member: str = "bob", **typed: str) -> httpx.Response:
    """Asked for and confirmed."""
    looked = await asked(who, act, member, **typed)
    assert looked.status_code == 200, looked.text
    return await who.confirm(looked, sure="do")


async def adjusted(who: Browser, points: str) -> str:
    sent = await done(who, "adjust", account="GRP", points=points, reason="other", details="sorry")
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


async def balance(pool: Pool, member: str = "bob") -> int:
    (account,) = await LedgerReader(pool).accounts(member)
    return account.balance
