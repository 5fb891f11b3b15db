"""Awards on their way by the queue: bytes, and the CPU of writing and reading, compressed and plain in turns."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from abacus.cli.examples import example_cards
from abacus.cli.examples.stream import stream
from abacus.core.errors import SetAside
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.ledger.types.award_envelope import Award, decode_envelope, decode_naming_faults, encode_award
from abacus.platform.sqs.packer import Packed, pack_compressed, pack_counting
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.process import look_for_garbage_seldom
from benchmarks.report import Figure

AWARDS: Final = 20_000
BATCH: Final = 2_000  # transactions that the calculator reads at once
ROUNDS: Final = 7


def measure() -> Iterator[Figure]:
    documents = [encode_award(award) for award in islice(example_awards(), AWARDS)]
    batches = [documents[start : start + BATCH] for start in range(0, len(documents), BATCH)]
    look_for_garbage_seldom()
    rounds = [(*_round(batches, pack_counting), *_round(batches, pack_compressed)) for _ in range(ROUNDS)]
    writing, reading, tight_writing, tight_reading = (
        min(seconds) / len(documents) * 1e6 for seconds in zip(*rounds, strict=True)
    )
    plain, tight = _packed(batches, pack_counting), _packed(batches, pack_compressed)
    plain_size, tight_size = (sum(len(each.body) for each in some) / len(documents) for some in (plain, tight))
    yield Figure(
        "bytes of an award in a compressed envelope",
        f"{tight_size:,.0f}",
        f"{tight_size / plain_size:.2f} of the {plain_size:,.0f} in a plain one",
    )
    yield Figure(
        "… awards a message",
        f"{len(documents) / len(tight):,.0f}",
        f"{len(plain) / len(tight):.1f} times as many as in a plain one",
    )
    yield _cpu("CPU of packing an award", tight_writing, writing)
    yield _cpu("… of reading and checking it", tight_reading, reading)
    quickly, slowly = (
        min(each) / len(documents) * 1e6 for each in zip(*(_readers(plain) for _ in range(ROUNDS)), strict=True)
    )
    yield Figure(
        "… of a plain one, by the quick reader",
        f"{quickly:.2f} µs",
        f"{quickly / slowly:.2f} of the reader that names faults, {slowly:.2f} µs",
    )


def _cpu(what: str, compressed: float, plain: float) -> Figure:
    return Figure(what, f"{compressed:.2f} µs", f"{compressed / plain:.2f} of plain, {plain:.2f} µs")


def _packed(batches: Sequence[Sequence[bytes]], pack: Callable[..., Iterator[Packed]]) -> list[Packed]:
    return [each for batch in batches for each in pack("awards", batch)]


def _round(batches: Sequence[Sequence[bytes]], pack: Callable[..., Iterator[Packed]]) -> tuple[float, float]:
    """CPU seconds of packing, and of reading what was packed, as it comes: a message after the other."""
    started = time.process_time()
    packed = _packed(batches, pack)
    between = time.process_time()
    for each in packed:
        decode_envelope(each.body)
    return between - started, time.process_time() - between


def _readers(packed: Sequence[Packed]) -> tuple[float, float]:
    """CPU seconds of either reader of plain envelopes, in turns."""
    bodies = [each.body.encode() for each in packed]
    started = time.process_time()
    for body in bodies:
        decode_envelope(body)
    between = time.process_time()
    for body in bodies:
        decode_naming_faults(body)
    return between - started, time.process_time() - between


def example_awards() -> Iterator[Award]:
    """Those of the example stream."""
    calculator = Calculator(CardBook(PublishedCard(card, 1) for card in example_cards()))
    for sent in stream(2 * AWARDS):
        try:
            transaction = read_transaction(sent.value)
            award = calculator.award(transaction, calculator.card_for(transaction), "member")
        except SetAside:
            continue
        if award is not None:
            yield award
