"""The single codes of an offer: what is left of each batch; a file is loaded, codes are made, a batch is withdrawn."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abacus.console.pages.offers.offer_pages import edited
from abacus.console.web.calls import Call
from abacus.console.web.page import Download, See
from abacus.core.codes import spelled
from abacus.core.errors import Refused
from abacus.engage.offers.codes.desk import CodeDesk, drawn_codes, named_at
from abacus.engage.offers.codes.loader import Batch
from abacus.engage.offers.codes.pools import BatchState, PoolState, pool_states
from abacus.engage.offers.decide.code_file import codes_of
from abacus.engage.offers.decide.offer import Offer
from abacus.platform.postgres import nothing_else

_MOST_MADE: Final = 10_000
_LONGEST_NAME: Final = 100
FILE, COUNT, BATCH = "codes", "count", "batch"
_LOADED_BATCH, _MADE_BATCH = "loaded_batch", "made_batch"


@dataclass(frozen=True)
class OfferCodes:
    """The pool of an offer, with its batches."""

    pool: PoolState | None
    batches: Sequence[BatchState]

    @property
    def live(self) -> Sequence[tuple[str, str]]:
        """The batches that can be withdrawn, to choose from."""
        return [(each.batch, each.batch) for each in self.batches if each.withdrawn_at is None]


async def codes_of_offer(call: Call, offer: Offer) -> OfferCodes | None:
    """None where the offer takes no single code, and none was loaded."""
    batches = await call.rooms[CodeDesk].batches(offer.name)
    if not batches and not offer.takes_single_code:
        return None
    pools = pool_states(batches)
    return OfferCodes(pools[0] if pools else None, batches)


async def load(call: Call) -> See:
    """Loads the codes of a file."""
    offer, batch = await edited(call), _batch(call, _LOADED_BATCH, named_at("loaded", call.now))
    try:
        codes = list(codes_of(csv.reader(call.form.get(FILE).splitlines()), is_checked=False))
    except (Refused, csv.Error) as fault:
        raise call.wrong(**{FILE: f"{str(fault).capitalize()}."}) from None
    if not codes:
        raise call.wrong(**{FILE: "Choose a file with one code a line."})
    into = Batch(offer.name, offer.country, batch, is_checked=False, made_by=call.actor.source)
    loaded = await call.rooms[CodeDesk].load(into, codes, call.actor, also=call.once(nothing_else))
    known = f" {loaded.known:,} were there already, or stand twice." if loaded.known else ""
    return See(f"/offers/{offer.name}", f"{loaded.new:,} codes are loaded.{known}")


async def make(call: Call) -> Download:
    """Makes codes: the file is all that has them."""
    offer, batch = await edited(call), _batch(call, _MADE_BATCH, named_at("made", call.now))
    typed = call.form.get(COUNT)
    if not typed.isdecimal() or not 1 <= int(typed) <= _MOST_MADE:
        raise call.wrong(**{COUNT: f"Write a number from 1 to {_MOST_MADE:,}."})
    codes = list(drawn_codes(int(typed)))
    into = Batch(offer.name, offer.country, batch, is_checked=True, made_by=call.actor.source)
    await call.rooms[CodeDesk].load(into, codes, call.actor, also=call.once(nothing_else))
    text = "".join(f"{spelled(code)}\n" for code in codes)
    return Download(f"{offer.name}-{batch}.txt".replace(":", ""), "text/plain; charset=utf-8", text.encode())


async def withdraw(call: Call) -> See:
    """Nobody takes a code of the batch any more."""
    offer, batch = await edited(call), call.form.get(BATCH)
    try:
        await call.rooms[CodeDesk].withdraw(offer.name, batch, offer.country, call.actor, also=call.once(nothing_else))
    except Refused as fault:
        raise call.wrong(f"{fault}.") from None
    return See(f"/offers/{offer.name}", f"The batch {batch} is withdrawn.")


def _batch(call: Call, field: str, unnamed: str) -> str:
    typed = call.form.get(field)
    if len(typed) > _LONGEST_NAME:
        raise call.wrong(**{field: f"Write at most {_LONGEST_NAME} characters."})
    return typed or unnamed
