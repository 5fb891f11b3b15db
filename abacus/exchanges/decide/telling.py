"""What is told of each turn of an exchange: to the partner that asked for it, and to the member. Pure."""

from collections.abc import Mapping
from typing import Final

import orjson

from abacus.core.sources import partner_of
from abacus.engage.notify.decide.news import Exchanged, ExchangeStep
from abacus.engage.notify.decide.notice import Notice
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.words import in_words
from abacus.intake.partners.decide.partner import is_partner_id
from abacus.intake.partners.webhooks.decide.message import MessageType, WebhookMessage, message_id

_TYPE: Final = MessageType.EXCHANGE_CHANGED
# What a member is told of; what happens between these is of no use to it.
_STEPS: Final[Mapping[State, ExchangeStep]] = {
    State.REVIEW: ExchangeStep.BEGUN,
    State.HELD: ExchangeStep.BEGUN,
    State.CAPTURED: ExchangeStep.DONE,
    State.AWARDED: ExchangeStep.DONE,
    State.RELEASED: ExchangeStep.OFF,
    State.DROPPED: ExchangeStep.OFF,
    State.REVERSED: ExchangeStep.BACK,
}


def webhook_message(exchange: Exchange, turn: Turn) -> WebhookMessage | None:
    """None for an exchange that no partner asked for: a person of the house did."""
    partner_id = partner_of(exchange.source)
    if partner_id is None or not is_partner_id(partner_id):
        return None
    then = exchange._replace(state=turn.state, reason=turn.reason, detail=turn.detail)
    data = {
        "exchange_id": str(exchange.exchange_id),
        "turn": turn.n,
        "direction": exchange.direction,
        "programme": exchange.programme,
        "member_id": exchange.member_id,
        "program": exchange.program,
        "country": exchange.country,
        "points": exchange.points,
        "fee": exchange.fee,
        "theirs": exchange.theirs,
        "state": turn.state,
        "reason": turn.reason,
        "detail": turn.detail,
        "words": in_words(then),
        "reference": exchange.reference,
    }
    body = orjson.dumps({"type": _TYPE, "timestamp": turn.at, "data": data}).decode()
    id_ = message_id(partner_id, _TYPE, f"{exchange.exchange_id}:{turn.n}")
    return WebhookMessage(id_, partner_id, exchange.member_id, _TYPE, body, turn.at)


def notice(exchange: Exchange, turn: Turn, unit: str) -> Notice | None:
    """None for a turn that is of no use to the member. `unit` is what the partner calls its points."""
    step = _STEPS.get(turn.state)
    if step is None or not exchange.member_id:  # a partner may call off what was never asked for
        return None
    news = Exchanged(
        program=exchange.program,
        country=exchange.country,
        exchange=str(exchange.exchange_id),
        direction=exchange.direction.value,
        step=step,
        points=exchange.points,
        theirs=exchange.theirs,
        unit=unit,
        reason=turn.reason,
    )
    return Notice(exchange.member_id, f"exchange:{exchange.exchange_id}:{turn.n}", turn.at, turn.n, news)
