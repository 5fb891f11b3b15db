"""What a member's page says beside the ledger: its tier, its messages, and its campaigns."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.console.decide.tier_progress import TierProgress, earned_in, next_tier
from abacus.console.web.calls import Call
from abacus.engage.campaigns.progress_rows import MemberProgress, progress_of
from abacus.engage.notify.notifications import MemberMessage, messages_of
from abacus.people.types.deed import Deed
from abacus.programs.tiers.decide.policy import period_of
from abacus.programs.tiers.store import MembershipStore, Shown

MOST: Final = 20  # of messages and of campaigns


async def tiers_shown(call: Call, member_id: str, open_: Mapping[str, str]) -> Sequence[TierProgress]:
    """In the programs of these accounts, each at home in a country. Raises `Unavailable`."""
    found = await MembershipStore(call.reading.pool, call.premises.clock).show(member_id)
    return [_progress(call, each, open_[_program(each)]) for each in found if _program(each) in open_]


async def messages_shown(call: Call, member_id: str, open_: Mapping[str, str]) -> Sequence[MemberMessage]:
    """None where no account of the member is open to the person. Raises `Unavailable`."""
    return await messages_of(call.reading.pool, member_id, MOST) if open_ else ()


async def campaigns_shown(call: Call, member_id: str) -> Sequence[MemberProgress]:
    """Raises `Unavailable`."""
    return await progress_of(call.reading.pool, member_id, call.countries(Deed.SEE), MOST)


def _program(shown: Shown) -> str:
    return shown.known.account.program


def _progress(call: Call, shown: Shown, country: str) -> TierProgress:
    account, card = shown.known.account, call.premises.card_of(country)
    earned, ends_on, policy = 0, None, card.tier_policy if card is not None else None
    if card is not None and policy is not None:
        period = period_of(call.now, card.zone, policy.period_months)
        earned, ends_on = earned_in(shown.tallies, period), period.ends_on
    following, missing = next_tier(policy, earned)
    return TierProgress(
        program=account.program,
        country=country,
        tier=shown.known.tier,
        until=account.until,
        override=shown.membership.reason if shown.membership is not None else None,
        earned=earned,
        ends_on=ends_on,
        next=following,
        missing=missing,
    )
