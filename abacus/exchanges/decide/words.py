"""Why an exchange is where it is, in plain words. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.exchanges.decide.exchange import Exchange, State, Turn

_STATES: Final[Mapping[State, str]] = {
    State.QUOTED: "it is quoted",
    State.REVIEW: "the points are held, and a person of the house looks at it",
    State.HELD: "the points are held, and it is about to be sent",
    State.SENT: "it is sent to the partner",
    State.UNKNOWN: "it is sent, and the partner has not said yet what it did",
    State.CANCELLING: "the partner is asked to refuse it for good",
    State.ASIDE: "a person of the house looks into it; the points stay held",
    State.CREDITED: "the partner has credited it",
    State.CAPTURED: "the partner has credited it, and the points are paid",
    State.REJECTED: "the partner has refused it",
    State.CANCELLED: "the partner will not credit it any more",
    State.RELEASED: "the points are free again",
    State.REVERSING: "the partner is asked to take it back",
    State.TAKEN_BACK: "the partner has taken it back",
    State.REVERSED: "the partner has taken it back, and the points are back",
    State.RESERVED: "the partner has announced it",
    State.COMMITTED: "the partner has sent it, and it is being awarded",
    State.AWARDED: "the points are awarded",
    State.DROPPED: "it did not come about",
}
_HOLD_LOST: Final = "hold-lost"
_GONE_ON: Final = "The house holds them for the member until the partner has said what it did."
_HANDS: Final[Mapping[State, str]] = {
    State.QUOTED: "The member has them: nothing is held.",
    State.REVIEW: "The house holds them for the member; the partner has heard nothing.",
    State.HELD: "The house holds them for the member; the partner has heard nothing.",
    State.SENT: _GONE_ON,
    State.UNKNOWN: _GONE_ON,
    State.CANCELLING: _GONE_ON,
    State.ASIDE: _GONE_ON,
    State.CREDITED: "The member has the partner's points; what the house holds is taken next.",
    State.CAPTURED: "The member has the partner's points, and the house's are spent.",
    State.REJECTED: "The house holds them, and gives them back next.",
    State.CANCELLED: "The house holds them, and gives them back next.",
    State.RELEASED: "The member has them again.",
    State.REVERSING: "The member has the partner's points until the partner has debited them.",
    State.TAKEN_BACK: "The partner has debited its points; the house gives its own back next.",
    State.REVERSED: "The member has the house's points again, and the partner's are debited.",
    State.RESERVED: "The partner holds its points for the member; the house has moved nothing.",
    State.COMMITTED: "The partner holds its points; the house awards its own next.",
    State.AWARDED: "The member has the house's points, and the partner takes what it held.",
    State.DROPPED: "They stay at the partner: the house has moved nothing.",
}
# Of the partner's list, and of ours.
_REASONS: Final[Mapping[str, str]] = {
    "account-closed": "the account is closed",
    "account-unknown": "there is no such account",
    "name-mismatch": "the account is in another name",
    "cap-reached": "a limit is reached",
    "not-eligible": "the account cannot take part",
    "amount-not-allowed": "the amount is not allowed",
    "no-answer": "no answer came",
    "not-known": "the partner has not got it yet",
    "late": "it took too long",
    "other-amount": "another amount was credited",
    "other-facts": "the partner has it with other facts",
    "credited-after-cancel": "the partner has credited it after it had refused it",
    "taken-back": "the partner took it back",
    "not-taken-back": "the partner does not take it back",
    _HOLD_LOST: "the held points were not there",
    "called-off": "it was called off",
    "declined": "a person of the house declined it",
    "unlinked": "the account is not linked any more",
    "programme-over": "the programme is over",
    "restored": "the house was restored from a backup, and the partner remembers it",
    "cancelled": "the partner cancelled it",
    "left": "the partner did not go on with it in time",
}


def in_words(at: Exchange | Turn) -> str:
    """The state, and why: "the points are free again: the account is closed"."""
    state = _STATES[at.state]
    return state if at.reason is None else f"{state}: {reason_in_words(at.reason)}"


def hands_in_words(exchange: Exchange) -> str:
    """In whose hands the points are."""
    if exchange.state is State.ASIDE and exchange.reason == _HOLD_LOST:
        return "The ledger does not have them held as they have to be."
    return _HANDS[exchange.state]


def reason_in_words(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("-", " "))
