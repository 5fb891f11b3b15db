"""Trust: the seals of the ledger, its verification, accounts of the stream, and proofs to take away."""

from dataclasses import dataclass
from datetime import UTC
from typing import ClassVar, Final

from abacus.console.decide.typed import local_moment, whole
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
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


@dataclass(frozen=True, kw_only=True)
class TrustPage(Page):
    """The newest of each, and the fields for another one."""

    template: ClassVar[str] = "trust.html"
    seals: Part[Rows[Seal]]
    verified: Part[Done | None]
    sealed: Part[Done | None]
    accounted: Part[Done | None]
    proof: Part[Done | None]
    may_seal: bool


async def trust(call: Call) -> TrustPage:
    return TrustPage(
        title="Proof",
        command="abacus ledger verify",
        seals=await call.part(_seals(call)),
        verified=await call.part(newest(call, VERIFY, LEDGER)),
        sealed=await call.part(newest(call, SEAL, LEDGER)),
        accounted=await call.part(newest(call, RECONCILE, LEDGER)),
        proof=await call.part(newest(call, PROOF, call.actor.name)),
        may_seal=call.may(Deed.SEAL, None),
    )


async def verify(call: Call) -> See:
    return await ask(call, Order(VERIFY, LEDGER, None, ("ledger", "verify", "--json")), "/trust")


async def seal(call: Call) -> See:
    return await ask(call, seal_order(), "/trust")


def seal_order() -> Order:
    """The same from every page."""
    return Order(SEAL, LEDGER, None, ("ledger", "seal", "--json"))


async def reconcile(call: Call) -> See:
    """A window by the person's clock."""
    begin, end = (local_moment(call.form.get(name), call.session.zone) for name in ("begin", "end"))
    if begin is None or end is None:
        wanted = {name: at for name, at in (("begin", begin), ("end", end)) if at is None}
        raise call.wrong(**dict.fromkeys(wanted, "Write a day and a time."))
    if end <= begin:
        raise call.wrong(end="It is not after the begin.")
    window = (f"--from={begin.astimezone(UTC).isoformat()}", f"--to={end.astimezone(UTC).isoformat()}")
    return await ask(call, Order(RECONCILE, LEDGER, None, ("reconcile", *window, "--json")), "/trust")


async def prove(call: Call) -> See:
    """The proof is the errand's document; the person who asked keeps it."""
    member, program, number = (call.form.get(each) for each in ("member", "program", "seal"))
    wrong = {"member": "Whose account?"} if not member else {}
    if number and (not isinstance(whole(number), int) or whole(number) == 0):
        wrong["seal"] = "Write the number of a seal, or leave it out for the last one."
    if wrong:
        raise call.wrong(**wrong)
    options = [*([f"--program={program}"] if program else []), *([f"--seal={number}"] if number else [])]
    return await ask(call, Order(PROOF, call.actor.name, None, ("ledger", "prove", *options, "--", member)), "/trust")


async def _seals(call: Call) -> Rows[Seal]:
    before = whole(call.asked("before") or "")
    number = before if isinstance(before, int) else None
    found = await Seals(call.reading.pool, call.premises.clock).newest(before=number, limit=_MOST + 1)
    return Rows(found[:_MOST], f"/trust?before={found[_MOST - 1].number}" if len(found) > _MOST else None)
