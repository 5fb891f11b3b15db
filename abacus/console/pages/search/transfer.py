"""One transfer by its key, with the balance before and after, and what it has to do with."""

import shlex
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.oversight.life.decide.told import Told
from abacus.people.types.deed import Deed


@dataclass(frozen=True, kw_only=True)
class TransferPage(Page):
    """The transfer and its member are None where none under this key is open to the person."""

    template: ClassVar[str] = "transfer.html"
    key: str
    member_id: str | None = None
    transfer: Told | None = None
    may_look_everywhere: bool = False


async def transfer(call: Call) -> TransferPage:
    key, reading = str(call.request.path_params["key"]), call.reading
    claim = await reading.ledger.claim(key) if key.isprintable() else None
    found = await reading.ledger.transfer(claim) if claim is not None else None
    if found is None or not call.may(Deed.SEE, found.country):
        return TransferPage(title=key, key=key, may_look_everywhere=call.may(Deed.SEE, None))
    (told,) = await reading.life.told(found.member_id, [found])
    return TransferPage(
        title=f"{found.points:+,} {found.program} for {found.member_id}",
        command=f"abacus members show {shlex.quote(found.member_id)}",
        key=key,
        member_id=found.member_id,
        transfer=told,
    )
