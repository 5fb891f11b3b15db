"""`abacus members show --all`: everything that support needs of a member, in one answer."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from abacus.cli.people.approvals import document as approval_document
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Columns, Line, Shown, Table
from abacus.core.clock import SystemClock
from abacus.core.errors import absent
from abacus.engage.campaigns.progress_rows import MemberProgress
from abacus.engage.journeys.member_visits import MemberVisit
from abacus.engage.limits.types import MICROS
from abacus.engage.notify.notifications import MemberMessage
from abacus.engage.notify.withheld import Withheld
from abacus.engage.offers.taken_reader import TakenOffer
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.intake.partners.members import AccountAsOf
from abacus.ledger.types.movement import Hold
from abacus.oversight.life.decide.tier_progress import TierProgress
from abacus.oversight.life.decide.told import Told
from abacus.oversight.life.member_life import Away, RemainingPoints
from abacus.oversight.life.reader import Asked, LifeReader
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore

_TRANSFERS: Final = 100
Row = TypeVar("Row")

_ACCOUNT: Final[Columns[AccountAsOf]] = {
    "program": lambda each: each.program,
    "country": lambda each: each.country,
    "balance": lambda each: each.balance,
    "held": lambda each: each.held,
    "available": lambda each: each.available,
    "tier": lambda each: each.tier,
    "good until": lambda each: each.expires_on,
}
_POINTS: Final[Columns[RemainingPoints]] = {
    "good until": lambda each: each.expires_on,
    "program": lambda each: each.program,
    "remaining": lambda each: each.remaining,
    "of": lambda each: each.points,
    "why": lambda each: "\n".join(each.why),
    "key": lambda each: each.key,
}
_TIER: Final[Columns[TierProgress]] = {
    "program": lambda each: each.program,
    "tier": lambda each: each.tier,
    "lasts through": lambda each: each.until,
    "earned": lambda each: each.earned,
    "until": lambda each: each.ends_on,
    "missing to keep it": lambda each: each.keeps,
    "next": lambda each: each.next,
    "missing to it": lambda each: each.missing,
}
_HOLD: Final[Columns[Hold]] = {
    "hold": lambda each: str(each.hold_id),
    "program": lambda each: each.program,
    "points": lambda each: each.points,
    "until": lambda each: each.until or "its exchange ends",
    "held by": lambda each: each.held_by,
}
_TRANSFER: Final[Columns[Told]] = {
    "posted": lambda each: each.posted_at,
    "program": lambda each: each.program,
    "kind": lambda each: each.kind,
    "points": lambda each: f"{each.points:+,}",
    "balance": lambda each: each.balance_after,
    "why": lambda each: "\n".join(each.words),
    "key": lambda each: each.key,
}
_MESSAGE: Final[Columns[MemberMessage]] = {
    "made": lambda each: each.created_at,
    "about": lambda each: ", ".join(each.about),
    "channel": lambda each: each.channel,
    "sent": lambda each: each.sent_at,
    "failed": lambda each: each.failed,
}
_WITHHELD: Final[Columns[Withheld]] = {
    "standing": lambda each: each.standing,
    "about": lambda each: each.about,
    "channel": lambda each: each.channel,
    "since": lambda each: each.happened_at,
    "until": lambda each: each.until,
    "why": lambda each: each.why,
}
_CAMPAIGN: Final[Columns[MemberProgress]] = {
    "campaign": lambda each: each.campaign,
    "country": lambda each: each.country,
    "counted": lambda each: each.events,
    "runs": lambda each: each.runs,
    "points": lambda each: each.points,
    "arm": lambda each: each.variant,
}
_JOURNEY: Final[Columns[MemberVisit]] = {
    "journey": lambda each: f"{each.journey}@{each.version}",
    "visit": lambda each: each.visit,
    "entered": lambda each: each.entered_at,
    "waits at": lambda each: each.node,
    "left": lambda each: each.left_at,
    "why": lambda each: each.why,
}
_REDEMPTION: Final[Columns[Redemption]] = {
    "asked for": lambda each: each.asked_at,
    "reward": lambda each: each.reward,
    "pieces": lambda each: each.quantity,
    "points": lambda each: each.points,
    "stage": lambda each: each.stage,
    "by": lambda each: each.source,
}
_OFFER: Final[Columns[TakenOffer]] = {
    "reserved": lambda each: each.reserved_at,
    "offer": lambda each: f"{each.offer}@{each.version}",
    "off": lambda each: f"{each.currency} {each.saves / MICROS:.2f}",
    "points": lambda each: each.points,
    "state": lambda each: each.status,
    "id": lambda each: each.redemption_id or each.reservation_id,
    "by": lambda each: each.caller,
}
_APPROVAL: Final[Columns[Approval]] = {
    "asked for": lambda each: each.asked_at,
    "what": lambda each: each.summary,
    "by": lambda each: each.asked_by,
    "status": lambda each: each.status,
    "decided by": lambda each: each.decided_by,
}


async def life_of(pool: Pool, member_id: str) -> Answer:
    """Exit 1 for nobody, and for a life of which a part is away. Raises `Absent`."""
    book = CardBook(await CardStore(pool).all())
    reader, approvals = LifeReader(pool, lambda: book, SystemClock()), Approvals(pool, SystemClock())
    life = await reader.of(Asked(member_id, transfers=_TRANSFERS), approvals)
    if not isinstance(life.accounts, Away) and not life.accounts:
        raise absent("account of", member_id)
    transfers = life.transfers if isinstance(life.transfers, Away) else life.transfers.rows
    parts: list[tuple[str, Any, Columns[Any], Callable[[Any], object]]] = [
        ("accounts", life.accounts, _ACCOUNT, lambda each: {**each._asdict(), "available": each.available}),
        ("points", life.points, _POINTS, lambda each: each._asdict()),
        ("tiers", life.tiers, _TIER, vars),
        ("holds", life.holds, _HOLD, lambda each: each._asdict()),
        ("transfers", transfers, _TRANSFER, vars),
        ("messages", life.messages, _MESSAGE, lambda each: each._asdict()),
        ("withheld", life.withheld, _WITHHELD, lambda each: each._asdict()),
        ("campaigns", life.campaigns, _CAMPAIGN, lambda each: each._asdict()),
        ("journeys", life.journeys, _JOURNEY, lambda each: each._asdict()),
        ("redemptions", life.redemptions, _REDEMPTION, lambda each: each._asdict()),
        ("offers", life.offers, _OFFER, lambda each: each._asdict()),
        ("approvals", life.approvals, _APPROVAL, approval_document),
    ]
    document = {name: _document(value, as_document) for name, value, _, as_document in parts}
    shown = [_shown(f"{name.capitalize()} of {member_id}", value, columns) for name, value, columns, _ in parts]
    is_away = any(isinstance(value, Away) for _, value, _, _ in parts)
    return Answer({"member_id": member_id, **document}, *shown, exit_code=EXIT_FAILED if is_away else 0)


def _document(value: Sequence[Row] | Away, as_document: Callable[[Row], object]) -> object:
    return {"away": value._asdict()} if isinstance(value, Away) else [as_document(each) for each in value]


def _shown(title: str, value: Sequence[Row] | Away, columns: Columns[Row]) -> Shown:
    if isinstance(value, Away):
        return Line(f"{title}: the {value.dependency} does not answer: {value.detail}", "red")
    return Table.of(title, value, columns)
