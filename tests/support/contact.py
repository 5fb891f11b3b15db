"""Contact policies in force, for tests."""

from typing import Any

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.engage.notify.decide.contact_document import parse_policy
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.platform.postgres import Pool
from abacus.pricing.kind import countries_with_cards


async def publish_contact(pool: Pool, **fields: Any) -> None:
    """One of Singapore."""
    policy = parse_policy({"country": "SG", "timezone": "Asia/Singapore", **fields})
    store, now = DocumentStore(pool, CONTACT_POLICIES), SystemClock().now()
    await store.publish([policy], countries_with_cards, by="tests", now=now)
