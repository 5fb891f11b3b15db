"""How the people of the house are put together, and the terms of their approvals."""

from datetime import timedelta

from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.approval import Terms
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring


def people_directory(wiring: Wiring, pool: Pool) -> PeopleDirectory:
    return wiring.keep_keys(PeopleDirectory(PeopleStore(pool, wiring.clock), wiring.clock))


def terms_of(settings: Settings) -> Terms:
    """The terms of approvals."""
    return Terms(timedelta(days=settings.approval_pending_days), timedelta(days=settings.approval_independence_days))
