"""Trust: the seals of the ledger, its verification, accounts of the stream, and proofs to take away."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Final

from abacus.console.decide.typed import local_moment, whole
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.people.types.deed import Deed
from abacus.proof.decide.seal import Seal
from abacus.proof.store import Seals

VERIFY: Final = "verify"
RECONCILE: Final = "reconcile"
PROOF: Final = "proof"
SEAL: Final = "seal"
LEDGER: Final = "the ledger"
_MOST: Final = 20


@dataclass(frozen=True)
class SealRow:
    """A seal, its hashes as people compare them."""

    number: int
    sealed_at: datetime
    accounts: int
    transfers: int
    root: str


@dataclass(frozen=True, kw_only=True)
class TrustPage(Page):
    """The newest of each, and the fields for another one."""

    template: ClassVar[str] = "trust.html"
    seals: Part[Rows[SealRow]]
    verified: Part[Done | None]
    sealed: Part[Done | None]
    accounted: Part[Done | None]
    proof: Part[Done | None]
    may_seal: bool


async def trust(call: Call, typed: Form = EMPTY) -> TrustPage:
    return TrustPage(
        title="Trust",
        command="abacus ledger verify",
        seals=await call.part(_seals(call)),
        verified=await call.part(newest(call, VERIFY, LEDGER)),
        sealed=await call.part(newest(call, SEAL, LEDGER)),
        accounted=await call.part(newest(call, RECONCILE, LEDGER)),
        proof=await call.part(newest(call, PROOF, call.actor.name)),
        may_seal=call.may(Deed.SEAL, None),
        form=typed,
    )


async def verify(call: Call) -> Page | See:
    return await ask(call, Order(VERIFY, LEDGER, None, ("ledger", "verify", "--json")), "/trust")


async def seal(call: Call) -> Page | See:
    return await ask(call, seal_order(), "/trust")


def seal_order() -> Order:
    """The same from every page."""
    return Order(SEAL, LEDGER, None, ("ledger", "seal", "--json"))


async def reconcile(call: Call) -> Page | See:
    """A window by the person's clock."""
    typed = call.form.shown()
    begin, end = (local_moment(typed.get(name), call.session.zone) for name in ("begin", "end"))
    for name, at in (("begin", begin), ("end", end)):
        if at is None:
            typed = typed.but(**{name: "Write a day and a time."})
    if begin is not None and end is not None and end <= begin:
        typed = typed.but(end="It is not after the begin.")
    if typed.wrong or begin is None or end is None:
        return await trust(call, typed)
    window = (f"--from={begin.astimezone(UTC).isoformat()}", f"--to={end.astimezone(UTC).isoformat()}")
    return await ask(call, Order(RECONCILE, LEDGER, None, ("reconcile", *window, "--json")), "/trust")


async def prove(call: Call) -> Page | See:
    """The proof is the errand's document; the person who asked keeps it."""
    member, program, number, typed = *(call.form.get(each) for each in ("member", "program", "seal")), call.form.shown()
    if not member:
        typed = typed.but(member="Whose account?")
    if number and (not isinstance(whole(number), int) or whole(number) == 0):
        typed = typed.but(seal="Write the number of a seal, or leave it out for the last one.")
    if typed.wrong:
        return await trust(call, typed)
    options = [*([f"--program={program}"] if program else []), *([f"--seal={number}"] if number else [])]
    return await ask(call, Order(PROOF, call.actor.name, None, ("ledger", "prove", *options, "--", member)), "/trust")


async def _seals(call: Call) -> Rows[SealRow]:
    before = whole(call.asked("before") or "")
    number = before if isinstance(before, int) else None
    found = await Seals(call.reading.pool, call.premises.clock).newest(before=number, limit=_MOST + 1)
    rows = [_row(each) for each in found[:_MOST]]
    return Rows(rows, f"/trust?before={rows[-1].number}" if len(found) > _MOST else None)


def _row(each: Seal) -> SealRow:
    return SealRow(each.number, each.sealed_at, each.accounts, each.transfers, each.root.hex())
