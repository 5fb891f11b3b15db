"""What a movement would do to an account, line by line, for the person who is about to confirm it. Pure."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from abacus.ledger.types.kinds import FOR_TIERS, TransferKind
from abacus.oversight.life.decide.tier_progress import TierProgress
from abacus.pricing.decide.card import TierPolicy
from abacus.programs.tiers.decide.policy import reached_with


@dataclass(frozen=True)
class Effect:
    """A fact of the account as it is, and as it would be; `before` is None where there is no account yet."""

    name: str
    before: str | None
    after: str


class Standing(Protocol):
    """An account as it stands."""

    @property
    def balance(self) -> int: ...

    @property
    def held(self) -> int: ...

    @property
    def pending(self) -> int: ...

    @property
    def expires_on(self) -> date | None: ...


def of_account(account: Standing | None, *, points: int = 0, held: int = 0, pending: int = 0) -> list[Effect]:
    """The effects of adding `points` to the balance, `held` to what is held and `pending` to what vests later."""
    balance_, held_, pending_ = (account.balance, account.held, account.pending) if account is not None else (0, 0, 0)
    facts = [("Balance", balance_, balance_ + points)]
    if held_ or held:
        facts.append(("Held", held_, held_ + held))
    if pending_ or pending:
        facts.append(("Pending", pending_, pending_ + pending))
    if len(facts) > 1:
        available = balance_ - held_ - pending_
        facts.append(("Available", available, available + points - held - pending))
    return [Effect(name, f"{was:,}" if account is not None else None, f"{is_:,}") for name, was, is_ in facts]


def of_days(account: Standing | None, good_until: date | None) -> list[Effect]:
    """The day after which points lapse, where the movement names one and the account has none of its own."""
    if good_until is None or (account is not None and account.expires_on is not None):
        return []
    return [Effect("Good until", None, good_until.isoformat())]


def of_tier(
    kind: TransferKind, progress: TierProgress | None, policy: TierPolicy | None, points: int, *, counts: bool
) -> str:
    """In a sentence. `counts`: the points belong to the present period."""
    if kind not in FOR_TIERS:
        return "The tier stays as it is: these points count for no tier."
    if progress is None or policy is None:
        return "The tier stays as it is: the country's card has no tiers by points."
    if not counts:
        return "The points of the present period stay as they are; an earlier period is counted again."
    earned = progress.earned + points
    reached = reached_with(earned, policy).tier
    return (
        f"Points of this period: {progress.earned:,} before, {earned:,} after, which make {reached}. The tier is"
        f" {progress.tier}" + (f" until {progress.until}." if progress.until is not None else ".")
    )
