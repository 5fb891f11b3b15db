"""A map with regions and shops, and an offer that holds by the river."""

from abacus.cli.demo.catalogue import OF_THE_RIVER
from abacus.cli.demo.chapters.offers import shelves_of
from abacus.cli.demo.neighbourhood import Neighbourhood
from abacus.cli.demo.story.chapter import Chapter, Look


class Places(Chapter):
    """Cleo loads them and publishes, and dora approves."""

    looks = (Look("cleo", "/places/SG/map", "regions and shops on a map: click to see what is on offer there"),)

    async def begin(self) -> None:
        house, shelves = self.house, shelves_of(self.house)
        await Neighbourhood(house.pool, house.clock, house.moves.approvals, house.people["cleo"]).settle()
        await shelves.fill_with_offers([OF_THE_RIVER])
