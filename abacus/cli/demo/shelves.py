"""Puts the demo's offers and rewards into force: codes first, then documents, each by two people."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from abacus.cli.demo.catalogue import (
    COUNTRY,
    COUPON,
    FULFILLER,
    INVITED,
    OF_COUPONS,
    OFFERS,
    POOL,
    REWARDS,
    codes,
    of_the_demo,
)
from abacus.cli.terminal.command_actor import CommandActor
from abacus.core.clock import Clock
from abacus.documents.decide.states import Status
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import Allowed
from abacus.engage.offers.codes.desk import CodeDesk, drawn_codes, named_at
from abacus.engage.offers.codes.loader import Batch
from abacus.engage.offers.decide.invited import Inviting
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.pools import CodeLoader
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool

_COUPONS: Final = 20  # of a batch
_DAYS: Final = 300


class Shelves(NamedTuple):
    """A house, and the two people who publish in it. Documents that are in force stay as they are."""

    pool: Pool
    clock: Clock
    approvals: Approvals
    editor: Actor
    approver: Actor

    async def fill_with_offers(self, offers: Sequence[Mapping[str, Any]] = OFFERS) -> None:
        await self._run(OfferDesk(self.pool, self.clock, self.approvals), offers)

    async def fill_with_coupons(self, secrets: Secrets) -> Sequence[str]:
        """An offer, with a new batch of single codes, which are told this once."""
        by, drawn = self.editor, list(drawn_codes(_COUPONS))
        batch = Batch(COUPON, COUNTRY, named_at("made", self.clock.now()), is_checked=True, made_by=by.source)
        await CodeDesk(self.pool, self.clock, secrets).load(batch, drawn, by)
        await self._run(OfferDesk(self.pool, self.clock, self.approvals), [OF_COUPONS])
        return drawn

    async def open_the_fulfiller(self, operator: CommandActor, secrets: Secrets) -> None:
        """A webhook, to which rewards are sent; nothing where it is there."""
        operator.check(Deed.PUBLISH_DOWNSTREAMS)
        desk = DownstreamDesk(self.pool, self.clock, Allowed(to_private=False), secrets)
        if FULFILLER["name"] in {each.document.name for each in await desk.records()}:
            return
        draft = await desk.read(FULFILLER, await desk.around())
        await desk.publish(await desk.differences([draft]), operator.actor)

    async def fill_with_rewards(self, loader: CommandActor, secrets: Secrets) -> None:
        """`loader` may load codes."""
        await loader.begins(Deed.EDIT_REWARDS, f"reward_pool:{POOL}", did="load-codes", file="abacus demo")
        await CodeLoader(self.pool, secrets).load(POOL, codes(), self.clock.now())
        await self._run(RewardDesk(self.pool, self.clock, self.approvals), REWARDS)

    async def invite(self, members: Sequence[str]) -> None:
        desk = OfferDesk(self.pool, self.clock, self.approvals)
        await desk.invite(INVITED, Inviting.ADD, [members], self.editor)

    async def propose(self, document: Mapping[str, Any]) -> None:
        """An offer that nobody has approved yet."""
        desk = OfferDesk(self.pool, self.clock, self.approvals)
        (whole,) = of_the_demo([document], self.clock.now(), _DAYS)
        await desk.propose(await desk.read(whole, await desk.around()), self.editor)

    async def _run(self, desk: StatedDesk[Any, Any], documents: Sequence[Mapping[str, Any]]) -> None:
        for each in of_the_demo(documents, self.clock.now(), _DAYS):
            if any(version.status is Status.APPROVED for version in await desk.history(each["name"])):
                continue
            _, asked = await desk.propose(await desk.read(each, await desk.around()), self.editor)
            await self.approvals.approve(asked.approval_id, self.approver, asked.digest)
