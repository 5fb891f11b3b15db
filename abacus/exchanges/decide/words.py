"""Why an exchange is where it is, in plain words. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.exchanges.decide.exchange import Exchange, State

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
    "hold-lost": "the held points were not there",
    "called-off": "it was called off",
    "declined": "a person of the house declined it",
    "unlinked": "the account is not linked any more",
    "restored": "the house was restored from a backup, and the partner remembers it",
    "cancelled": "the partner cancelled it",
    "left": "the partner did not go on with it in time",
}


def in_words(exchange: Exchange) -> str:
    """The state, and why: "the points are free again: the account is closed"."""
    state = _STATES[exchange.state]
    if exchange.reason is None:
        return state
    return f"{state}: {_REASONS.get(exchange.reason, exchange.reason.replace('-', ' '))}"


def reason_in_words(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("-", " "))
