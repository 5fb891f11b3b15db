"""What is told of each turn of an exchange: to the partner that asked for it. Pure."""

from typing import Final

import orjson

from abacus.core.sources import partner_of
from abacus.exchanges.decide.exchange import Exchange, Turn
from abacus.exchanges.decide.words import in_words
from abacus.intake.partners.decide.partner import is_partner_id
from abacus.intake.partners.webhooks.decide.message import MessageType, WebhookMessage, message_id

_TYPE: Final = MessageType.EXCHANGE_CHANGED


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
