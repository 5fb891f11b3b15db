"""The quarantine: what was set aside, by reason with the remedy beside it; each item whole; and choosing some."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.named import Named
from abacus.console.decide.remedies import mended_at, remedy_of
from abacus.console.decide.senders import member_in, sender_in
from abacus.console.selections.store import MOST, SelectionStore
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import Reason
from abacus.intake.partners.store import PartnerStore
from abacus.people.types.deed import Deed
from abacus.platform.quarantine.replay import readable
from abacus.platform.quarantine.store import HELD, QuarantineStore, Which
from abacus.platform.quarantine.types import HeldItem

_MOST: Final = 50
COUNTED_TO: Final = 100_000  # items of a reason


@dataclass(frozen=True)
class HeldGroup:
    """The held items of a reason, counted to `COUNTED_TO`, and what to do about them: `place` is the page where the
    cause is mended, and its words.
    """

    reason: str
    items: int
    remedy: str
    place: tuple[str, str] | None = None

    @property
    def told(self) -> str:
        """How many they are, in words."""
        return f"{self.items:,}{' or more' if self.items == COUNTED_TO else ''}"


@dataclass(frozen=True)
class HeldLine:
    """An item without its body. `sender`: the partner, campaign or source that the message names."""

    id: str
    stage: str
    reason: str
    origin: str
    sender: Named | None
    status: str
    set_aside_at: datetime
    detail: str
    replays: int


@dataclass(frozen=True, kw_only=True)
class QuarantinePage(Page):
    """The groups, and the newest items of the chosen reason, some of which may be chosen to be replayed."""

    template: ClassVar[str] = "quarantine.html"
    groups: Part[Sequence[HeldGroup]]
    items: Part[Rows[HeldLine]]
    chosen: str | None
    may_replay: bool
    most: int = MOST


@dataclass(frozen=True, kw_only=True)
class ItemPage(Page):
    """One item, whole."""

    template: ClassVar[str] = "quarantine_item.html"
    item: HeldLine
    key: str | None
    member_id: str | None
    remedy: str
    body: str


async def quarantine(call: Call) -> QuarantinePage:
    reason = call.chosen("reason", Reason)
    store, which = call.rooms[QuarantineStore], Which(status=HELD, reason=reason)

    async def items() -> Rows[HeldLine]:
        found = await store.list(which, limit=_MOST + 1, after=place_of(call, str))
        partners = await partners_of(call) if found else ()
        lines = [line_of(each, partners) for each in found]
        return rows_of(call, lines, _MOST, lambda each: (each.set_aside_at, each.id))

    return QuarantinePage(
        title="Quarantine",
        command="abacus quarantine list" + (f" --reason {reason}" if reason else ""),
        groups=await call.part(held_groups(call)),
        items=await call.part(items()),
        chosen=reason,
        may_replay=call.may(Deed.REPLAY, None),
    )


async def choose(call: Call) -> See:
    """Freezes what was ticked, or the oldest of the reason, as a selection."""
    reason, store = call.chosen("reason", Reason), call.rooms[QuarantineStore]
    ticked = [each for each in call.form.get("item[]").split("\n") if each]
    if call.form.get("act") == "all":
        if reason is None:
            raise call.wrong(act="Choose a reason first.")
        held = await store.replayable(Which(reason=reason), limit=MOST)
        words = f"the oldest of {reason}"
    else:
        held = await store.replayable(Which(ids=ticked), limit=MOST) if ticked else ()
        words = "ticked"
    if not held:
        raise call.wrong(act="Tick at least one item that is still held.")
    selection_id = call.form.key
    await call.rooms[SelectionStore].freeze(selection_id, words, [each.item.id for each in held], call.actor.name)
    return See(f"/quarantine/selections/{selection_id}")


async def item(call: Call) -> ItemPage:
    held = await call.rooms[QuarantineStore].get(call.request.path_params["item"])
    if held is None:
        raise PageFault("not-found", "The quarantine has no such item.")
    return ItemPage(
        title=f"Set aside: {held.item.reason}",
        command=f"abacus quarantine show {held.item.id}",
        item=line_of(held, await partners_of(call)),
        key=held.item.key,
        member_id=member_in(held.item.body),
        remedy=remedy_of(held.item.reason),
        body=readable(held.item.body),
    )


async def held_groups(call: Call) -> Sequence[HeldGroup]:
    """Raises `Unavailable`."""
    counts = await call.rooms[QuarantineStore].counts(most=COUNTED_TO)
    return [HeldGroup(each, count, remedy_of(each), mended_at(each)) for each, count in counts.items()]


async def partners_of(call: Call) -> Collection[str]:
    """The ids of the house's partners. Raises `Unavailable`."""
    return {each.partner.partner_id for each in await call.rooms[PartnerStore].all()}


def line_of(held: HeldItem, partners: Collection[str]) -> HeldLine:
    of = held.item
    return HeldLine(
        id=of.id,
        stage=of.stage,
        reason=of.reason,
        origin=of.origin,
        sender=sender_in(of.body, of.key, partners),
        status=held.status,
        set_aside_at=held.set_aside_at,
        detail=of.detail,
        replays=held.replays,
    )
