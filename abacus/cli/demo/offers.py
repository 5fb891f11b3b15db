"""Places, offers and rewards of the demo, from their approval to their redemption, at the doors that partners use."""

from collections.abc import Sequence
from typing import Final

from abacus.cli.demo.catalogue import COUNTRY, OF_THE_RIVER
from abacus.cli.demo.counter import at_the_counter
from abacus.cli.demo.demo_partner import demo_partner
from abacus.cli.demo.exchanges import People, partner_beside
from abacus.cli.demo.neighbourhood import Neighbourhood, ask_what_is_near, say_where
from abacus.cli.demo.points_counter import ask_for_a_voucher, buy_coffees, look_after_the_voucher, pay_in_points
from abacus.cli.demo.shelves import Shelves
from abacus.cli.demo.shop import (
    look_at_a_basket,
    look_at_a_dish,
    take_an_offer,
    take_points,
    type_the_word,
    use_a_coupon,
)
from abacus.cli.demo.two_people import APPROVER, EDITOR, approvals_of, enter_people
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.stack import running
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.signals.events.wiring import built_in_sources

_SHOP: Final = "demo-shop"
_ON_LOOPBACK: Final = {
    **dict.fromkeys(("api_host", "offers_host", "places_host"), "127.0.0.1"),
    "webhooks_to_private": True,  # the partner of exchanges is there, too
}
_ANY_PORT: Final = dict.fromkeys(
    ("api_port", "offers_port", "places_port", "counts_port", "console_port", "health_port"), 0
)


async def sold(complete: Settings, pool: Pool, starting: StartProgress) -> list[str]:
    """What became of them, as lines. Without a key for secrets there are no codes, and no rewards."""
    clock, login_ = (
        SystemClock(),
        CommandActor(Actor(login(), None), people_required=False, pool=pool, clock=SystemClock()),
    )
    await enter_people(complete)
    approvals = approvals_of(pool, built_in_sources(complete))
    shelves = Shelves(pool, clock, approvals, EDITOR, APPROVER)
    secrets, mark = Secrets.of(complete.secrets_key), f"{clock.now():%Y%m%d%H%M%S%f}"
    coupons: Sequence[str] = ()
    await Neighbourhood(pool, clock, approvals, EDITOR).settle()
    await shelves.fill_with_offers()
    await shelves.fill_with_offers([OF_THE_RIVER])
    if secrets.encrypts:
        coupons = await shelves.fill_with_coupons(secrets)
        await shelves.open_the_fulfiller(login_, secrets)
        await shelves.fill_with_rewards(login_, secrets)
    key = await _entered(login_, secrets)
    at_its_own = on_free_ports(complete.model_copy(update={**_ON_LOOPBACK, **_ANY_PORT}))
    async with (
        running(("offers", "places", "positions", "api", "exchanger"), at_its_own, starting),
        at_the_counter(at_its_own, key) as counter,
    ):
        lines = [
            *await ask_what_is_near(at_its_own, key),
            *await say_where(counter, pool, "bob", clock.now()),
            *await look_at_a_dish(counter, "bob"),
            *await look_at_a_basket(counter, "bob"),
            *await take_an_offer(counter, "bob", mark),
            *await take_points(counter, pool, "bob", mark),
            *await type_the_word(counter, "bob", mark),
            *await pay_in_points(counter, "bob", mark),
        ]
        await shelves.invite(["eve"])
        lines += await look_at_a_dish(counter, "eve")
        if coupons:
            voucher = await ask_for_a_voucher(counter, "bob", mark)
            lines += await use_a_coupon(counter, ("bob", "eve"), coupons[0], mark)
            lines += await buy_coffees(counter, "eve", mark)
            lines += await look_after_the_voucher(counter, "bob", voucher)
            people = People(login_, approvals, EDITOR, APPROVER)
            api = f"http://{at_its_own.api_host}:{at_its_own.api_port}"
            async with partner_beside(people, secrets, api) as skyline:
                lines += await skyline.exchange(counter, mark)
    return lines


async def _entered(at: CommandActor, secrets: Secrets) -> str:
    """The partner is entered with a new key, or has a new key from now on."""
    key, limits = LIVE_KEY.new(), Limits()
    partner = demo_partner(_SHOP, "A shop of the demo", [COUNTRY], at, awards=False)
    also = at.does(Deed.EDIT_LIMITS, f"partner:{_SHOP}", did="create", limits=limits._asdict())
    await PartnerStore(at.pool, at.clock, secrets).replace(partner, limits, key, also=also)
    return key.text
