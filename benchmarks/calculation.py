"""From a decoded transaction to an explained award, on one core."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

from abacus.cli.examples import example_cards
from abacus.cli.examples.stream import stream
from abacus.core.errors import SetAside
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import Completed, Transaction, read_naming_faults, read_transaction
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.platform.sqs.packer import pack_compressed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.process import look_for_garbage_seldom
from benchmarks.report import Figure, rate

TRANSACTIONS: Final = 50_000
WANTED: Final = 100_000
ROUNDS: Final = 7
BATCH: Final = 2_000  # transactions that the calculator reads at once


def measure() -> Iterator[Figure]:
    calculator = Calculator(CardBook(PublishedCard(card, 1) for card in example_cards()))
    bodies = [sent.value for sent in stream(TRANSACTIONS) if _is_priced(sent.value, calculator)]
    batches = [bodies[start : start + BATCH] for start in range(0, len(bodies), BATCH)]
    look_for_garbage_seldom()  # as a worker does; fifty thousand messages at once are the benchmark's own
    rounds = [_work_off(batches, calculator) for _ in range(ROUNDS)]
    reading, calculating, packing, naming = (min(seconds) / len(bodies) for seconds in zip(*rounds, strict=True))

    per_second = 1 / calculating
    yield Figure(
        "calculation, decoded input to explained award, one core",
        rate(per_second, "transactions"),
        f"{calculating / reading:.2f} of reading and checking the message",
        f">= {WANTED:,}/s",
        per_second >= WANTED,
    )
    yield Figure(
        "CPU of a transaction in the calculator: read",
        f"{reading * 1e6:.1f} µs",
        f"{reading / naming:.2f} of the reader that names faults, {naming * 1e6:.1f} µs",
    )
    yield Figure("… calculate and explain", f"{calculating * 1e6:.1f} µs", f"{calculating / reading:.2f} of read")
    yield Figure("… encode and pack", f"{packing * 1e6:.1f} µs", f"{packing / reading:.2f} of read")


def _is_priced(body: bytes, calculator: Calculator) -> bool:
    try:
        transaction = read_transaction(body)
        return _award(calculator, transaction) is not None and isinstance(transaction, Completed)
    except SetAside:
        return False


def _work_off(batches: Sequence[Sequence[bytes]], calculator: Calculator) -> tuple[float, float, float, float]:
    """CPU seconds of the three steps, one batch after the other as the calculator works, and of the first by the reader
    that names faults. Other processes of the machine do not count.
    """
    reading = calculating = packing = naming = 0.0
    for batch in batches:
        started = time.process_time()
        transactions = [read_transaction(body) for body in batch]
        read = time.process_time()
        awards = [award for each in transactions if (award := _award(calculator, each)) is not None]
        calculated = time.process_time()
        list(pack_compressed("awards", map(encode_award, awards)))
        reading += read - started
        calculating += calculated - read
        packed = time.process_time()
        packing += packed - calculated
        for body in batch:
            read_naming_faults(body)
        naming += time.process_time() - packed
    return reading, calculating, packing, naming


def _award(calculator: Calculator, transaction: Transaction) -> Award | None:
    return calculator.award(transaction, calculator.card_for(transaction), "member")
