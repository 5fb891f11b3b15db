"""One transfer by its key, with the balance before and after, and what it has to do with."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.core.sources import campaign_of
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.deed import Deed
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read
from abacus.pricing.explanation.words import in_words


@dataclass(frozen=True)
class ShownTransfer:
    """A transfer with the balance before it. `campaign` gave the points, where one did."""

    member_id: str
    program: str
    country: str
    kind: str
    points: int
    balance_before: int
    balance_after: int
    occurred_at: datetime
    posted_at: datetime
    source: str | None
    campaign: str | None
    reverses: str | None
    words: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class TransferPage(Page):
    """The transfer is None where none under this key is open to the person."""

    template: ClassVar[str] = "transfer.html"
    key: str
    transfer: ShownTransfer | None
    may_look_everywhere: bool = False


async def transfer(call: Call) -> TransferPage:
    key = str(call.request.path_params["key"])
    claim = await call.reading.ledger.claim(key) if key.isprintable() else None
    found = await call.reading.ledger.transfer(claim) if claim is not None else None
    if found is None or not call.may(Deed.SEE, found.country):
        return TransferPage(title=key, key=key, transfer=None, may_look_everywhere=call.may(Deed.SEE, None))
    return TransferPage(
        title=f"{found.points:+,} {found.program} for {found.member_id}",
        command=f"abacus members show {shlex.quote(found.member_id)}",
        key=key,
        transfer=_shown(found),
    )


def _shown(found: Transfer) -> ShownTransfer:
    source = found.known_source
    return ShownTransfer(
        member_id=found.member_id,
        program=found.program,
        country=found.country,
        kind=str(found.kind),
        points=found.points,
        balance_before=found.balance_after - found.points,
        balance_after=found.balance_after,
        occurred_at=found.occurred_at,
        posted_at=found.posted_at,
        source=source,
        campaign=campaign_of(source) if source is not None else None,
        reverses=found.reverses,
        words=_words(found),
    )


def _words(found: Transfer) -> Sequence[str]:
    try:
        return list(in_words(read(found.explanation), found.actor))
    except (UnknownExplanation, UnreadableExplanation):
        return ["Its explanation cannot be read here."]
