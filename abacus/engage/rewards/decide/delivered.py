"""How what is redeemed comes to the member, in words. Pure."""

from abacus.engage.rewards.decide.redemption import Redemption


def delivered(each: Redemption) -> str:
    if each.pool is not None:
        return f"{each.quantity} codes of the pool {each.pool}" if each.quantity > 1 else f"a code of {each.pool}"
    if each.offer is not None:
        return f"an invitation to the offer {each.offer}"
    if each.award_program is not None:
        return f"{each.award_points} points of {each.award_program}"
    late = "" if each.late_at is None else f", late after {each.late_at.isoformat()}"
    return f"a call of the webhook {each.webhook}, on which {each.partner or 'people of the house'} report{late}"
