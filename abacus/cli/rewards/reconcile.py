"""`abacus rewards reconcile`: what was redeemed, held against stock, codes and the ledger."""

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.oversight.reconcile.rewards import RewardFault, reward_books


async def reconcile_rewards() -> Answer:
    """Hold redemptions against stock, codes and the ledger. Exit 1 when something does not come out."""
    async with actor() as at:
        books = await reward_books(at.pool)
    document = {
        "redemptions": books.redemptions,
        "waiting": books.waiting,
        "faults": [each._asdict() for each in books.faults],
    }
    said = f"{counted(books.redemptions, 'redemption')}, {books.waiting:,} unfinished, {len(books.faults):,} at fault"
    table = Table("At fault", RewardFault._fields, [list(each) for each in books.faults])
    shown = [table, said] if books.faults else [said]
    return Answer(document, *shown, exit_code=EXIT_FAILED if books.faults else 0)
