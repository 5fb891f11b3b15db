"""Where pages are that are about one thing: those of the tests."""

from abacus.engage.offers.decide.reservation import reservation_id
from abacus.people.types.approval import Approval
from tests.console.asking import FILE, JOURNEY_TRIAL, OFFER_TRIAL, RATES_TRIAL, REWARD_TRIAL, TABLE, TRIAL
from tests.console.campaigning import MARKET
from tests.console.drafting import DRAFT
from tests.console.exchanging import EXCHANGE_ID
from tests.console.holding import ITEM, SELECTION
from tests.console.stocked import BRUNCH
from tests.console.travelling import BY_HAND
from tests.documents.samples import JOURNEYS
from tests.engage.offers.taken import wish
from tests.support.exchanges import LINK_ID
from tests.support.offers import LUNCH

REDEMPTION = reservation_id(wish("furnished").key, 0)


def address(path: str, approval: Approval) -> str:
    """Of the path of a page: every page that is served has one, so that every page is looked at."""
    stands_for = {
        "/redemptions/{id:uuid}": f"/redemptions/{REDEMPTION}",
        "/exchanges/{id:uuid}": f"/exchanges/{EXCHANGE_ID}",
        "/exchange-links/{id:uuid}": f"/exchange-links/{LINK_ID}",
        "{id:uuid}": str(approval.approval_id),  # of the errand and of the break, too
        "/rates-backtests/{trial:uuid}": f"/rates-backtests/{RATES_TRIAL}",
        "/offer-trials/{trial:uuid}": f"/offer-trials/{OFFER_TRIAL}",
        "/reward-trials/{trial:uuid}": f"/reward-trials/{REWARD_TRIAL}",
        "/journey-trials/{trial:uuid}": f"/journey-trials/{JOURNEY_TRIAL}",
        "{trial:uuid}": str(TRIAL),
        "{scope}": "SG",
        "{selection:uuid}": str(SELECTION),
        "{draft:uuid}": str(DRAFT),
        "{item}": ITEM.id,
        "{report}": "cohorts",
        "{month}": "2026-06",
        "{file}": FILE,
        "{table}": TABLE,
        "{person}": "eve",
        "{programme}": "skymiles",
        "/offers-preview": "/offers-preview?country=SG&categories=food&price=10",
        "/offers/{name}/preview": f"/offers/{LUNCH['name']}/preview?categories=food&price=10",
        "/offers/{name}": f"/offers/{BRUNCH}",
        "/rewards/{name}/preview": "/rewards/tea/preview?member=bob",
        "/rewards/{name}": "/rewards/tea",
        "/exchange-programmes/{name}": "/exchange-programmes/skymiles",
        "/journeys/{name}/enter": f"/journeys/{BY_HAND['name']}/enter",
        "/journeys/{name}/migrate": "/journeys/greeting/migrate?from=1&node-pause=rest",
        "/journeys/{name}/where": f"/journeys/{JOURNEYS.document['name']}/where?member=bob",
        "/journeys/{name}": f"/journeys/{JOURNEYS.document['name']}",
        "{name}": MARKET["name"],
        "{member:path}": "bob",
        "{partner}": "acme",
        "{segment}": "vip",
        "/search": "/search?q=bo",
        "/suggestions": "/suggestions?q=txn:rides:1",
        "{key:path}": "txn:rides:1",
        "{counter}": "count_rain_drops",
        "/categories/{document}": "/categories/SG",
        "/contact/{document}": "/contact/SG",
        "/places/{document}/map": "/places/SG/map?lat=1.301&lon=103.801",
        "/places/{document}": "/places/SG",
        "/events/{document}": "/events/weather",
        "/downstreams/{document}": "/downstreams/coupons",
        "counts.csv": "counts.csv?keys=rain_drops:city:1",
    }
    for part, text in stands_for.items():
        path = path.replace(part, text)
    assert "{" not in path, f"{path}: say here of what the page is that tests look at"
    return path
