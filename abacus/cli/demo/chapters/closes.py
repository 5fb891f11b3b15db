"""Two months whose books are closed, by the steps of the console. The last month that is over waits for its close."""

import asyncio
from datetime import UTC, datetime, time, timedelta
from typing import Final
from uuid import uuid4

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.demo.story.house import House
from abacus.cli.terminal.shell import console_pool
from abacus.console.decide.month_orders import messages_order, review_order, signature_order
from abacus.console.errands.command import ERRAND_TOKEN, Command
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, Order, State
from abacus.console.wiring import environments
from abacus.core.errors import Refused
from abacus.oversight.closing.decide.journal_accounts import ALL
from abacus.oversight.closing.kind import accounts_desk
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

_LOOKS_EVERY_S: Final = 1.0
_HALF_A_DAY: Final = timedelta(hours=12)  # before the month begins in any country
_NOW_OVER: Final = time(0, 20, tzinfo=UTC)  # the month, everywhere
_LIABILITY: Final = "2400 Points liability"
# By program, country and kind: debit and credit. Kinds that are left out are booked as for all.
_ACCOUNTS: Final = {
    (ALL, ALL): {
        "issued": ("6100 Loyalty expense", _LIABILITY),
        "spent": (_LIABILITY, "1200 Settled with partners"),
        "exchanged_in": ("1210 Due from partners' programmes", _LIABILITY),
        "exchanged_out": (_LIABILITY, "2410 Due to partners' programmes"),
        "expired": (_LIABILITY, "4800 Breakage"),
        "reversed": (_LIABILITY, "6100 Loyalty expense"),
        "adjusted": ("6110 Goodwill", _LIABILITY),
    },
    ("OVO", "ID"): {"issued": ("6120 Loyalty expense, Indonesia", _LIABILITY)},
}


class Closes(Chapter):
    """Finn publishes the accounts of the journal once, and closes the months with them."""

    looks = (Look("finn", "/finance", "two closed months, a third that can be closed now, and what the points cost"),)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing.set_result(None)

    async def begin(self) -> None:
        at = self.house.at("finn")
        at.check(Deed.CLOSE_BOOKS)
        desk = accounts_desk(at.pool, at.clock)
        around = await desk.around()
        drafts = [await desk.read(_document(place), around) for place in _ACCOUNTS]
        await desk.publish(await desk.differences(drafts), at.actor)

    async def month_ended(self, month: Month) -> None:
        await self._closing
        last_over = Month.of(self.house.today).before
        if month in {last_over.before.before, last_over.before}:
            self._closing = asyncio.ensure_future(self._close(month))  # which takes some days

    async def end(self) -> None:
        await self._closing

    async def _close(self, month: Month) -> None:
        """Account for the messages, review, and sign."""
        begin = datetime.combine(month.first_day, time(), UTC) - _HALF_A_DAY
        end = datetime.combine(month.after.first_day, _NOW_OVER)
        async with console_pool(self.house.settings) as pool:
            tasks = ErrandStore(pool, self.house.clock)
            account = await self._done(tasks, messages_order(month, begin, end))
            review = await self._done(tasks, review_order(month, await tasks.output(account.errand_id)))
            await self._done(tasks, signature_order(month, review))

    async def _done(self, tasks: ErrandStore, order: Order) -> Errand:
        """Finn's task, run as the console runs it. No process of a console is there that would wait for it; the clock
        leaps, so it would also take the task for lost.
        """
        errand_id, runner, token = uuid4(), uuid4(), ERRAND_TOKEN.new()
        await tasks.ask(errand_id, order, self.house.people["finn"].name)
        taken = await tasks.take(runner, token)
        if taken is None or taken.errand_id != errand_id:
            raise Refused(f"the task {order.kind} of {order.subject} does not begin")
        environment, _ = environments(self.house.settings)
        given = {**environment, "ABACUS_TOKEN": token.text}
        async with Command(order.arguments, order.papers, order.keeps, given) as command:
            while not await command.ended_within(_LOOKS_EVERY_S):
                pass
            outcome = command.outcome()
        await tasks.end(errand_id, runner, outcome)
        if outcome.state is not State.DONE or outcome.exit_code:
            raise Refused(f"abacus {' '.join(order.arguments)}: {outcome.told or outcome.output!r}")
        return taken


def _document(place: tuple[str, str]) -> dict[str, object]:
    program, country = place
    pairs = {kind: {"debit": debit, "credit": credit} for kind, (debit, credit) in _ACCOUNTS[place].items()}
    return {"program": program, "country": country, **pairs}
