"""The distribution of the tables over several servers with Citus: the column that decides where a row lives.

All rows of one member lie on one server. A key is unique over all members, so rows under a key lie where the key says.
`abacus migrate --citus` does this; docs/adr/0026 says what it does not do.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, NamedTuple, TypeAlias


class Spread(NamedTuple):
    """A row lives on the server for the value of this column, together with the rows of another table with the same
    value.
    """

    by: str
    beside: str | None = None


class Whole(Enum):
    """A table that is not divided."""

    EVERYWHERE = "a copy on every server: small, seldom written, and read beside rows that are spread"
    AT_HOME = "on the coordinator alone: written often, or read by itself"


Place: TypeAlias = Spread | Whole

_BY_MEMBER: Final = Spread("member_id", beside="account")

PLAN: Final[Mapping[str, Place]] = {
    "account": Spread("member_id"),
    "transfer": _BY_MEMBER,
    "draw": _BY_MEMBER,
    "hold": _BY_MEMBER,
    "sealed_leaf": _BY_MEMBER,
    "member_number": _BY_MEMBER,
    "allowance_member": _BY_MEMBER,
    "membership": _BY_MEMBER,
    "account_tier": _BY_MEMBER,
    "campaign_action": _BY_MEMBER,
    "campaign_progress": _BY_MEMBER,
    "tier_tally": _BY_MEMBER,
    "tier_change": _BY_MEMBER,
    "notice": _BY_MEMBER,
    "notification": _BY_MEMBER,
    "notification_preference": _BY_MEMBER,
    # By the idempotency key, or an id that is a digest of it.
    "claim": Spread("key"),
    "key_slice": Spread("key", beside="claim"),
    "campaign_claim": Spread("key", beside="claim"),
    "rejection": Spread("key", beside="claim"),
    "partner_award": Spread("award_id"),
    "webhook_delivery": Spread("message_id"),
    "seal": Whole.EVERYWHERE,
    "webhook": Whole.EVERYWHERE,
    "allowance": Whole.AT_HOME,
    "assumption": Whole.AT_HOME,
    "campaign": Whole.AT_HOME,
    "campaign_pot": Whole.AT_HOME,
    "campaign_seen": Whole.AT_HOME,
    "campaign_slot": Whole.AT_HOME,
    "campaign_sum": Whole.AT_HOME,
    "counter_definition": Whole.AT_HOME,
    "counter_retirement": Whole.AT_HOME,
    "counter_series": Whole.AT_HOME,
    "counter_start": Whole.AT_HOME,
    "counter_tally": Whole.AT_HOME,
    "counter_partition": Whole.AT_HOME,
    "counter_row": Whole.AT_HOME,
    "counter_setting": Whole.AT_HOME,
    "downstream": Whole.AT_HOME,
    "downstream_secret": Whole.AT_HOME,
    "erasure": Whole.AT_HOME,
    "event_source": Whole.AT_HOME,
    "expiry_batch": Whole.AT_HOME,
    "expiry_run": Whole.AT_HOME,
    "member_number_erased": Whole.AT_HOME,
    "member_number_next": Whole.AT_HOME,
    "month_close": Whole.AT_HOME,
    "pace": Whole.AT_HOME,
    "partner": Whole.AT_HOME,
    "partner_key": Whole.AT_HOME,
    "partner_request": Whole.AT_HOME,
    "points_pulse": Whole.AT_HOME,
    "quarantine": Whole.AT_HOME,
    "rate_card": Whole.AT_HOME,
    "rate_card_withdrawal": Whole.AT_HOME,
    "rate_limit": Whole.AT_HOME,
    "relay_cursor": Whole.AT_HOME,
    "segment_version": Whole.AT_HOME,
    "slice": Whole.EVERYWHERE,
    "tier_calendar": Whole.AT_HOME,
    "tier_roll": Whole.AT_HOME,
    "webhook_cursor": Whole.AT_HOME,
    "person": Whole.AT_HOME,
    "person_token": Whole.AT_HOME,
    "approval": Whole.AT_HOME,
    "audit_log": Whole.AT_HOME,
    "console_authenticator": Whole.AT_HOME,
    "console_errand": Whole.AT_HOME,
    "console_errand_file": Whole.AT_HOME,
    "console_form": Whole.AT_HOME,
    "console_link": Whole.AT_HOME,
    "console_password": Whole.AT_HOME,
    "console_selection": Whole.AT_HOME,
    "console_session": Whole.AT_HOME,
    "worker_process": Whole.AT_HOME,
    "alembic_version": Whole.AT_HOME,
}


def statements(plan: Mapping[str, Place]) -> Iterator[tuple[str, str]]:
    """The statements of the plan: a table and its statement, each after the table that it lies beside."""
    for table, place in sorted(plan.items(), key=lambda each: isinstance(each[1], Spread) and bool(each[1].beside)):
        if isinstance(place, Spread):
            beside = place.beside or "none"
            yield table, f"select create_distributed_table('{table}', '{place.by}', colocate_with => '{beside}')"
        elif place is Whole.EVERYWHERE:
            yield table, f"select create_reference_table('{table}')"
