"""`abacus exchanges reconcile`: what was exchanged, held against the ledger, limits and positions."""

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.oversight.reconcile.exchanges import ExchangeFault, exchange_books


async def reconcile_exchanges() -> Answer:
    """Hold exchanges against the ledger, limits and positions. Exit 1 when something does not come out."""
    async with actor() as at:
        books = await exchange_books(at.pool)
    document = {
        "exchanges": books.exchanges,
        "unfinished": books.unfinished,
        "faults": [each._asdict() for each in books.faults],
    }
    said = f"{counted(books.exchanges, 'exchange')}, {books.unfinished:,} unfinished, {len(books.faults):,} at fault"
    table = Table("At fault", ExchangeFault._fields, [list(each) for each in books.faults])
    shown = [table, said] if books.faults else [said]
    return Answer(document, *shown, exit_code=EXIT_FAILED if books.faults else 0)
