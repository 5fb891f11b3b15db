"""The jobs of a month's end, and a seal each week: points lapse, tiers step down, and the ledger is sealed."""

from datetime import date
from typing import Final

from abacus.cli.demo.story.chapter import Chapter
from abacus.cli.terminal.shell import sqs
from abacus.people.types.deed import Deed
from abacus.platform.sqs.definition import EXPIRY
from abacus.platform.sqs.queue import SqsQueue
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep import MonthEndJob, of_all_due
from abacus.programs.tiers.roll import Roll
from abacus.proof.store import Seals

_SEALS_ON: Final = 0  # the weekday


class MonthEnds(Chapter):
    """Olga runs them, as cron would."""

    async def day(self, day: date) -> None:
        if day.weekday() == _SEALS_ON:
            await self._seal()

    async def month_ended(self, month: Month) -> None:  # noqa: ARG002  # the jobs find what is due
        at = self.house.at("olga")
        book, runs = CardBook(await CardStore(at.pool).all()), ExpiryRuns(at.pool)
        await at.begins(Deed.EXPIRE, "job:expiry", due=True)
        async with sqs(self.house.settings) as client:
            queue = await SqsQueue.find(client, self.house.settings.queue_prefix + EXPIRY)
            job = MonthEndJob(at.pool, queue, at.clock)
            for task in await of_all_due(runs, book, None, at.clock.now()):
                await job.run(task, lambda _: None)
        await self.house.until_done(lambda: _are_over(runs), "the expirer")
        await at.begins(Deed.RUN_JOBS, "job:tiers-roll")
        roll = Roll(at.pool, book, at.clock)
        for country in book.countries():
            await roll.due(country)
        await self._seal()

    async def end(self) -> None:
        await self._seal()

    async def _seal(self) -> None:
        at = self.house.at("olga")
        await at.begins(Deed.SEAL, "job:seal")
        await Seals(at.pool, at.clock).make()


async def _are_over(runs: ExpiryRuns) -> bool:
    return all(each.finished_at is not None for each in await runs.all())
