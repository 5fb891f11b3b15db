"""A transfer with its reason in words, calculated again. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from abacus.core.sources import campaign_of
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read
from abacus.pricing.explanation.words import in_words
from abacus.proof.decide.recompute import recompute


@dataclass(frozen=True)
class Told:
    """A transfer with its explanation in words. `recomputed` is what differs when it is calculated again; None where
    nothing does, or where that cannot be told: then `unknown` says why.
    """

    id: str
    key: str
    program: str
    kind: str
    points: int
    balance_after: int
    country: str
    posted_at: datetime
    occurred_at: datetime
    expires_on: date | None
    by: str | None
    source: str | None
    campaign: str | None
    reverses: str | None
    words: Sequence[str]
    recomputed: str | None
    unknown: str | None


def told(transfer: Transfer, book: CardBook | None, also: Sequence[str] = ()) -> Told:
    """Without a book nothing is calculated again. `also` are words of what belongs to it."""
    words: list[str] = []
    unknown = None if book is not None else "The rate cards cannot be read now."
    try:
        words = list(in_words(read(transfer.explanation), transfer.actor))
    except UnknownExplanation:
        unknown = "This version of Abacus does not know such an explanation."
    except UnreadableExplanation as fault:
        unknown = f"The explanation cannot be read: {fault.detail}"
    source = transfer.known_source
    return Told(
        id=f"{transfer.member_id}:{transfer.program}:{transfer.seq}",
        key=transfer.key,
        program=transfer.program,
        kind=str(transfer.kind),
        points=transfer.points,
        balance_after=transfer.balance_after,
        country=transfer.country,
        posted_at=transfer.posted_at,
        occurred_at=transfer.occurred_at,
        expires_on=transfer.expires_on,
        by=transfer.actor or source,
        source=source,
        campaign=campaign_of(source) if source is not None else None,
        reverses=transfer.reverses,
        words=[*words, *also, *vesting_words(transfer)],
        recomputed=recompute(transfer, book) if book is not None else None,
        unknown=unknown,
    )


def vesting_words(transfer: Transfer) -> Sequence[str]:
    """From when on its points can be spent, where that is not at once."""
    if transfer.vests_on is None:
        return ()
    if transfer.kind == TransferKind.REVERSE:
        return (f"taken back before {transfer.vests_on}, the day on which they would have vested",)
    return (f"can be spent from {transfer.vests_on} on",)
