"""From a decoded transaction to an explained award, on one core."""

import contextlib
import gc
import time
from collections.abc import Callable, Iterator
from typing import Final

from abacus.core.errors import SetAside
from abacus.earning.calculate import Calculator
from abacus.earning.transaction import Completed, read_transaction
from abacus.examples import example_cards
from abacus.examples.stream import stream
from abacus.ledger.award import Award, encode_award
from abacus.queues.envelope import pack
from abacus.rates.book import CardBook
from abacus.rates.card import PublishedCard
from benchmarks.report import Figure, rate

TRANSACTIONS: Final = 50_000
WANTED: Final = 100_000
ROUNDS: Final = 7
BATCH: Final = 2_000  # what the calculator reads at once


def measure() -> Iterator[Figure]:
    bodies = [sent.value for sent in stream(TRANSACTIONS)]
    calculator = Calculator(CardBook(PublishedCard(card, 1) for card in example_cards()))
    decoded = [transaction for body in bodies if (transaction := _decoded(body, calculator)) is not None]
    gc.freeze()  # fifty thousand decoded transactions at once are the benchmark's own, not a worker's
    reading = _timed(lambda: _read_all(bodies)) / len(bodies)

    batches = [decoded[start : start + BATCH] for start in range(0, len(decoded), BATCH)]
    calculating = min(
        _timed(lambda: [len(_calculate(calculator, batch)) for batch in batches]) for _ in range(ROUNDS)
    ) / len(decoded)
    awards = _calculate(calculator, decoded)
    packing = _timed(lambda: list(pack("awards", map(encode_award, awards)))) / len(awards)

    per_second = 1 / calculating
    yield Figure(
        "calculation, decoded input to explained award, one core",
        rate(per_second, "transactions"),
        f"{calculating / reading:.2f} of reading and checking the message",
        f">= {WANTED:,}/s",
        per_second >= WANTED,
    )
    yield Figure("CPU of a transaction in the calculator: read", f"{reading * 1e6:.1f} µs")
    yield Figure("… calculate and explain", f"{calculating * 1e6:.1f} µs", f"{calculating / reading:.2f} of read")
    yield Figure("… encode and pack", f"{packing * 1e6:.1f} µs", f"{packing / reading:.2f} of read")


def _decoded(body: bytes, calculator: Calculator) -> Completed | None:
    """A transaction that can be priced."""
    try:
        transaction = read_transaction(body)
        calculator.award(transaction, calculator.card_for(transaction), "member")
    except SetAside:
        return None
    return transaction if isinstance(transaction, Completed) else None


def _read_all(bodies: list[bytes]) -> None:
    for body in bodies:
        with contextlib.suppress(SetAside):
            read_transaction(body)


def _calculate(calculator: Calculator, decoded: list[Completed]) -> list[Award]:
    awards = (calculator.award(transaction, calculator.card_for(transaction), "member") for transaction in decoded)
    return [award for award in awards if award is not None]


def _timed(work: Callable[[], object]) -> float:
    """Seconds of CPU: what others do on the machine meanwhile does not count."""
    started = time.process_time()
    work()
    return time.process_time() - started
