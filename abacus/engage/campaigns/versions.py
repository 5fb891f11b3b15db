"""Versions of campaigns by their number, which are read once: a version never changes."""

from abacus.core.errors import Unavailable
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign import Campaign


class CampaignVersions:
    """The versions that this process has read."""

    def __init__(self, store: CampaignStore) -> None:
        self._store = store
        self._known: dict[tuple[str, int], Campaign] = {}

    async def of(self, name: str, version: int) -> Campaign:
        """Raises `Unavailable`, also while there is no such version yet."""
        place = name, version
        if place not in self._known:
            history = await self._store.history(name)
            self._known |= {(name, each.document.version): each.document for each in history}
        if place not in self._known:
            raise Unavailable("campaigns", f"there is no {name}@{version}")
        return self._known[place]
