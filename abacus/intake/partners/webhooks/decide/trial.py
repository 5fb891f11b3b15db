"""The message by which an operator tries a partner's webhook: it is about nothing. Pure."""

from datetime import datetime
from typing import Final, NamedTuple

import orjson

TRIAL_TYPE: Final = "abacus.test"


class TrialMessage(NamedTuple):
    """`body` is sent byte for byte."""

    message_id: str
    body: bytes


def trial_message(partner_id: str, number: str, now: datetime) -> TrialMessage:
    """`number` tells one trial from another, so that a receiver which drops repetitions sees each."""
    body = {"type": TRIAL_TYPE, "timestamp": now, "data": {"partner_id": partner_id}}
    return TrialMessage(f"msg_test_{number}", orjson.dumps(body))
