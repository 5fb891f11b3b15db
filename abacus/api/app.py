"""The partner award API, put together."""

from typing import Final

from starlette.types import ASGIApp

from abacus.api import (
    adjustments,
    approvals,
    award_batches,
    awards,
    campaigns,
    events,
    exchange_callbacks,
    exchange_links,
    exchange_programmes,
    exchange_statement,
    exchanges,
    inbound_exchanges,
    journey_entries,
    journeys,
    members,
    movement_batches,
    moves,
    offer_documents,
    places,
    point_quotes,
    positions,
    preferences,
    redemptions,
    rewards,
)
from abacus.api.auth import Access
from abacus.api.document_schemas import document_schemas
from abacus.api.guarded_app import guarded_app
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.oversight.kinds import KINDS
from abacus.platform.health import Health

_DESCRIPTION: Final = """
Award points to members, exactly once, let them be spent, and read what became of them.

Points are integers. Amounts are decimal strings. A time is a text of RFC 3339 with an offset. Every error is an
`application/problem+json` document with a stable `type`.
"""

_KEYS: Final = "A partner's key, `abk_live_…`, or `abk_test_…` for the sandbox; or a person's token, `abp_…`"
_ROUTES: Final = (
    awards,
    award_batches,
    moves,
    movement_batches,
    point_quotes,
    adjustments,
    approvals,
    campaigns,
    offer_documents,
    rewards,
    journeys,
    journey_entries,
    exchanges,
    inbound_exchanges,
    exchange_statement,
    exchange_links,
    exchange_programmes,
    redemptions,
    preferences,
    events,
    positions,
    members,
    places,
    exchange_callbacks,
)


def api_app(
    access: Access, health: Health, public_url: str | None = None, journal: RequestJournal | None = None
) -> ASGIApp:
    routers = [each.router for each in _ROUTES]
    return guarded_app(
        "Abacus",
        _DESCRIPTION,
        routers,
        access,
        health,
        keys=_KEYS,
        public_url=public_url,
        journal=journal,
        documents=document_schemas(KINDS),
        hot=events.HOT,
        lean=(*awards.LEAN, *moves.LEAN, *movement_batches.LEAN, *members.LEAN),
    )
