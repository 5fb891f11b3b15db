"""What the door of the award queue costs an award, and signing and checking its envelope, on one core."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from abacus.cli.examples import example_cards
from abacus.cli.examples.stream import stream
from abacus.core.clock import SystemClock
from abacus.core.errors import SetAside
from abacus.core.signature import LEAST_BYTES, EnvelopeKey, Producer, Signer, Verifier
from abacus.intake.awarding.door import Door
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.ledger.types.award_envelope import Award, decode_envelope, encode_award
from abacus.platform.sqs.packer import pack_compressed
from abacus.platform.sqs.port import CALL_ITEMS
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.process import look_for_garbage_seldom
from benchmarks.report import Figure

_TRANSACTIONS: Final = 20_000
_ROUNDS: Final = 7
_KEY: Final = EnvelopeKey(Producer.CALCULATOR, "calculator.1", b"k" * LEAST_BYTES)


class _Cards:
    """The example cards, which do not change."""

    def __init__(self, book: CardBook) -> None:
        self._book = book

    def book(self) -> CardBook:
        return self._book

    async def read_anew(self) -> None:
        """They are as new as they get."""


def measure() -> Iterator[Figure]:
    book = CardBook(PublishedCard(card, 1) for card in example_cards())
    bodies = [sent.value for sent in stream(_TRANSACTIONS)]
    look_for_garbage_seldom()
    rounds = [asyncio.run(_round(book, bodies)) for _ in range(_ROUNDS)]
    making, signing, decoding, admitting, checking = (min(seconds) for seconds in zip(*rounds, strict=True))
    plain = making + decoding
    door = admitting - decoding
    for name, seconds in (("the door's checks of an award", door), ("signing", signing), ("checking", checking)):
        yield Figure(f"CPU of {name}, envelopes of up to 400", f"{seconds / len(bodies) * 1e6:.2f} µs")
    share = (door + signing + checking) / plain
    yield Figure(
        "… all three, of reading, pricing, packing and unpacking a transaction",
        f"{share:.1%}",
        f"{(signing + checking) / plain:.1%} for the signature",
    )


async def _round(book: CardBook, bodies: Sequence[bytes]) -> tuple[float, float, float, float, float]:
    """CPU seconds: to make the envelopes, sign them, decode them, admit them, and check their signatures."""
    calculator, signer, verifier = Calculator(book), Signer(_KEY), Verifier([_KEY])
    door = Door(_Cards(book), SystemClock(), Verifier())
    times = [time.process_time()]
    documents = (encode_award(award) for award in _awards(calculator, bodies))
    envelopes = [packed.body for packed in pack_compressed("awards", documents)]
    times.append(time.process_time())
    signed = [signer.sign(each) for each in envelopes]
    received = [envelopes[start : start + CALL_ITEMS] for start in range(0, len(envelopes), CALL_ITEMS)]
    times.append(time.process_time())
    for batch in received:
        unpacked = [decode_envelope(each) for each in batch]
        del unpacked
    times.append(time.process_time())
    for batch in received:
        await door.admit(batch)
    times.append(time.process_time())
    for each in signed:
        verifier.producer_of(each)
    times.append(time.process_time())
    making, signing, decoding, admitting, checking = (after - before for before, after in pairwise(times))
    return making, signing, decoding, admitting, checking


def _awards(calculator: Calculator, bodies: Sequence[bytes]) -> Iterator[Award]:
    for body in bodies:
        try:
            transaction = read_transaction(body)
            award = calculator.award(transaction, calculator.card_for(transaction), "member")
        except SetAside:
            continue
        if award is not None:
            yield award
