"""The door of the award queue asks which campaigns there are or were."""

from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.campaigns.campaign_store import CampaignNames, CampaignStore
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.platform.postgres import Pool
from tests.support.campaigns import NOW, document, publications

AROUND = publications()
BY_ANN = Change("person:ann", NOW)
BY_BEN = Change("person:ann", NOW, approved_by="person:ben")


async def test_a_campaign_is_known_once_it_was_in_force(pool: Pool) -> None:
    store, names = CampaignStore(pool), CampaignNames(pool)
    wanted = ["drafted", "ended", "mint", "running", "submitted"]
    drafted = [name for name in wanted if name != "mint"]
    await store.draft([parse_campaign(document(name=name), AROUND) for name in drafted], AROUND, BY_ANN)
    for name in ("submitted", "running", "ended"):
        await store.submit(name, AROUND, BY_BEN)
    for name in ("running", "ended"):
        await store.approve(name, 1, AROUND, BY_BEN)
    assert await names.unknown(wanted) == {"drafted", "mint", "submitted"}
    await store.move("ended", None, Act.END, BY_BEN)
    await store.approve("submitted", 1, AROUND, BY_BEN)
    assert await names.unknown(wanted) == {"drafted", "mint"}
    assert await CampaignNames(pool).unknown(["ended", "drafted"]) == {"drafted"}
