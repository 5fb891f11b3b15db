"""A house with one of each thing that pages show."""

from datetime import timedelta

from abacus.approving.contact_desk import ContactDesk
from abacus.console.decide.waits import RELAY
from abacus.console.watch.store import WatchStore
from abacus.engage.categories.decide.tree import parse_categories
from abacus.engage.categories.kind import CategoryDesk
from abacus.engage.downstreams.decide.downstream_document import parse_downstream
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.notify.decide.contact_document import parse_policy
from abacus.engage.offers.desk import OfferDesk
from abacus.oversight.growth import sizes
from abacus.oversight.growth.types import Sizes
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.signals.places.decide.map_document import parse_map
from abacus.signals.places.kind import MapDesk
from abacus.signals.places.region_directory import RegionDirectory
from tests.console.asking import (
    BACKTEST,
    BACKTESTED,
    JOURNEY_DRY_RUN,
    JOURNEY_TAKEN,
    JOURNEY_TRIAL,
    OFFER_BACKTEST,
    OFFER_BACKTESTED,
    OFFER_TRIAL,
    RATES_BACKTEST,
    RATES_BACKTESTED,
    RATES_TRIAL,
    REWARD_BACKTEST,
    REWARD_BACKTESTED,
    REWARD_TRIAL,
    TRIAL,
    errand,
)
from tests.console.bookkeeping import keep_books
from tests.console.campaigning import submitted
from tests.console.desk import Desk
from tests.console.drafting import save_draft
from tests.console.exchanging import set_aside
from tests.console.holding import hold_and_select
from tests.console.stocked import stock
from tests.console.travelling import BY_HAND, run, two_versions
from tests.documents.samples import JOURNEYS
from tests.engage.offers.taken import desk as taking_desk
from tests.engage.offers.taken import held, wish
from tests.people.approving import ANN, BEN, proposal
from tests.signals.segments.sets_of_members import load
from tests.support.counters import RAIN, publish_counter, publish_weather
from tests.support.exchanges import enter_link, enter_partner, run_programme
from tests.support.offers import CATEGORIES, LUNCH
from tests.support.rewards import run_reward
from tests.support.staff import ADMIN
from tests.support.town import load_town


async def publish_coupons(open_desk: Desk) -> None:
    desk = open_desk.rooms[DownstreamDesk]
    coupons = parse_downstream(
        {"name": "coupons", "kind": "webhook", "url": "https://coupons.example/hook"}, to_private=False
    )
    await desk.publish(await desk.differences([coupons]), ADMIN)


async def publish_categories(open_desk: Desk) -> None:
    desk = open_desk.rooms[CategoryDesk]
    await desk.publish(await desk.differences([parse_categories(CATEGORIES)]), ADMIN)


async def publish_contact(open_desk: Desk) -> None:
    policy = {"country": "SG", "timezone": "Asia/Singapore", "caps": {"sns": {"marketing": "3 a day"}}}
    desk, approvals = open_desk.rooms[ContactDesk], open_desk.rooms[Approvals]
    asked = await desk.ask(parse_policy(policy), ANN)
    await approvals.approve(asked.approval_id, BEN, asked.digest)


async def publish_map(open_desk: Desk) -> None:
    desk = open_desk.rooms[MapDesk]
    map_ = {"country": "SG", "timezone": "Asia/Singapore", "kinds": {"city": 20}}
    await desk.publish(await desk.differences([parse_map(map_)]), ADMIN)


async def propose_offer(open_desk: Desk) -> None:
    desk = open_desk.rooms[OfferDesk]
    await desk.propose(await desk.read(LUNCH, await desk.around()), ANN)


async def propose_journey(open_desk: Desk) -> None:
    desk = open_desk.rooms[JourneyDesk]
    await desk.propose(await desk.read(JOURNEYS.document), ANN)


async def hold_offer(open_desk: Desk) -> None:
    await held(taking_desk(open_desk.pool, open_desk.clock), wish("furnished", at=open_desk.clock.now()))


async def furnished(open_desk: Desk, country: str | None = "SG") -> Approval:
    """Returns the approval, which has the id of the errand and of the break; `address` names the others."""
    await submitted(open_desk)
    await open_desk.partner("acme")
    await publish_counter(open_desk.pool, RAIN, await publish_weather(open_desk.pool))
    await publish_coupons(open_desk)
    await run_reward(open_desk.pool, delivery={"webhook": "coupons"})
    await enter_partner(open_desk.pool, open_desk.clock)
    programme = await run_programme(open_desk.pool)
    await enter_link(open_desk.pool, open_desk.clock, "bob")
    await set_aside(open_desk)
    await publish_categories(open_desk)
    await publish_contact(open_desk)
    await publish_map(open_desk)
    await load_town(open_desk.pool, open_desk.clock)
    await open_desk.rooms[RegionDirectory].refresh()
    await propose_offer(open_desk)
    await propose_journey(open_desk)
    await run(open_desk, BY_HAND)
    await two_versions(open_desk, "greeting")
    await hold_offer(open_desk)
    await stock(open_desk)
    approval = await open_desk.rooms[Approvals].ask(proposal(country=country), ANN.agent)
    await keep_books(open_desk, programme, approval.approval_id)
    await errand(open_desk, approval.approval_id)
    await errand(open_desk, TRIAL, BACKTEST, document=BACKTESTED)
    await errand(open_desk, RATES_TRIAL, RATES_BACKTEST, document=RATES_BACKTESTED)
    await errand(open_desk, OFFER_TRIAL, OFFER_BACKTEST, document=OFFER_BACKTESTED)
    await errand(open_desk, REWARD_TRIAL, REWARD_BACKTEST, document=REWARD_BACKTESTED)
    await errand(open_desk, JOURNEY_TRIAL, JOURNEY_DRY_RUN, document=JOURNEY_TAKEN)
    await hold_and_select(open_desk)
    watch = open_desk.rooms[WatchStore]
    for minutes in (20, 10):  # ago; operations draw it
        turn = await watch.begin(open_desk.clock.now() - timedelta(minutes=minutes))
        assert turn is not None
        await watch.end(turn, {"award": 90.0 - minutes, RELAY: 0.0})
    async with open_desk.pool.acquire() as connection:
        for days, size in ((30, 600_000_000), (0, 900_000_000)):  # ago; operations have them in a table
            day = open_desk.clock.now().date() - timedelta(days=days)
            await sizes.note(connection, day, Sizes(size, {"transfer": size // 2, "claim": size // 4}))
    await load(open_desk.pool, "vip", "bob")
    await save_draft(open_desk)
    return approval
