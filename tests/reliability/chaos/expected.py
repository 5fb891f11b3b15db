"""The rows that ledger and quarantine have to hold after a run, from the messages that stand in the topic. Pure."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import NamedTuple

from abacus.core.errors import Reason
from tests.reliability.chaos.workload import Aside, Awarded, Fate, Ignored, TakenBack


class Expected(NamedTuple):
    """`awards`, by key and fingerprint: of those with one key one is posted and the others are set aside. `refunds`, by
    key. `aside`, by origin: why a message is set aside. `unknown`: the origins of messages that nobody sent.
    """

    awards: dict[str, dict[str, Awarded]]
    refunds: dict[str, TakenBack]
    aside: dict[str, Reason]
    ignored: int
    unknown: list[str]

    @property
    def conflicts(self) -> set[tuple[str, str]]:
        """Key and fingerprint of all awards that share a key with others."""
        return {(key, each) for key, variants in self.awards.items() if len(variants) > 1 for each in variants}


def expected_of(arrivals: Iterable[tuple[str, bytes]], fates: Mapping[bytes, Fate]) -> Expected:
    """The outcome that is due for these messages, by origin and body: two copies of a body differ in their origin."""
    expected = Expected({}, {}, {}, 0, [])
    ignored = 0
    for origin, body in arrivals:
        match fates.get(body):
            case Awarded() as fate:
                expected.awards.setdefault(fate.key, {})[fate.fingerprint] = fate
            case TakenBack() as fate:
                expected.refunds[fate.key] = fate
            case Aside(reason):
                expected.aside[origin] = reason
            case Ignored():
                ignored += 1
            case None:
                expected.unknown.append(origin)
    return expected._replace(ignored=ignored)


def taken_back(refunds: Iterable[TakenBack], points: Mapping[str, int]) -> dict[str, int]:
    """The points that all refunds of a transaction together take back, by its key; their order makes no difference."""
    refunded: dict[str, Decimal] = {}
    whole: dict[str, Decimal] = {}
    for refund in refunds:
        refunded[refund.of] = refunded.get(refund.of, Decimal(0)) + refund.amount
        whole[refund.of] = refund.whole
    return {
        of: points[of] if amount >= whole[of] else floor(points[of] * Fraction(amount) / Fraction(whole[of]))
        for of, amount in refunded.items()
    }
