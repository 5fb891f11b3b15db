"""Erasing a member, and whether the ledger is clean, for the tests that do it."""

from abacus.platform.postgres import Pool
from abacus.proof.parts import Span
from abacus.proof.verify import verify
from tests.support.forgetting import eraser, noted

BOB, ANNA = "bob@home", "anna"


async def is_clean(pool: Pool) -> bool:
    return (await verify(pool, lambda _: None)).clean


async def erase(owner: Pool, member: str = BOB) -> str:
    return (await eraser(owner).erase(member, by="alice", reason="asked to", also=noted)).pseudonym


async def verify_member(pool: Pool, member: str) -> int:
    report = await verify(pool, lambda _: None, span=Span(member, member))
    assert report.clean
    return report.transfers
