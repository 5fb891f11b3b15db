"""Explanations for awards whose factors do not matter, and one of each kind as version 0 wrote it."""

from datetime import UTC, datetime
from typing import Final

from abacus.core.points import Rounding
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Calculated, Explanation, Granted, Reversed

# As they stand in ledgers that were written before explanations said their version.
VERSION_0: Final[dict[str, bytes]] = {
    "calculated": (
        b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
        b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
    ),
    "fixed": b'{"fixed":"booking.cancelled_by_driver","card":"SG@7","points":100}',
    "granted": b'{"granted_by":"acme","reason":"Welcome to Acme","card":"SG@7","points":100}',
    "by a campaign": (
        b'{"campaign":"third_order@2","event":"transactions:transaction.completed:mart:T-1003","step":2,"count":3,'
        b'"conditions":[["var.vertical eq food","food"]],"card":"SG@7","points":500}'
    ),
    "by a campaign's formula": (
        b'{"campaign":"double@1","event":"transactions:transaction.completed:mart:T-1004","step":1,"variant":"a",'
        b'"conditions":[],"card":"SG@7","formula":{"amount":"15.00","currency":"SGD","factors":[["vertical",'
        b'"campaign","3"],["eppf","SG","1"],["cashless","wallet","2"],["tier","platinum","3"]],"product":"270.00",'
        b'"rounding":"floor","multiple":"1.5"},"points":405}'
    ),
    "by an offer": (
        b'{"offer":"tea_bonus@1","redemption":"05c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33","benefit":"points_plus",'
        b'"figure":"50","card":"SG@7","points":50}'
    ),
    "by an offer, so many times": (
        b'{"offer":"tea_triple@1","redemption":"05c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33","benefit":"points_times",'
        b'"figure":"3","cap":"100","earned":42,"card":"SG@7","points":84}'
    ),
    "by a reward": (
        b'{"reward":"miles@1","redemption":"05c0e7f0-a3b8-5a44-8f2b-6b9f6d1f2a33","card":"SG@7","points":200}'
    ),
    "by a journey": (b'{"journey":"welcome@2","visit":1,"node":4,"turn":2,"arm":"told","card":"SG@7","points":50}'),
    "refunded": (
        b'{"points":-60,"of":"txn:rides:T-1001","of_kind":"earn","earned":180,"occurred_at":"2026-01-10T04:30:00+00:00",'
        b'"card":"SG@7","due":60,"amount":"5.00","currency":"SGD","of_amount":"15.00","own_lot":60,"expired":0,'
        b'"on_shortfall":"negative","clipped":0}'
    ),
    "reversed": (
        b'{"points":-120,"of":"txn:rides:T-1001","of_kind":"earn","earned":180,"occurred_at":"2026-01-10T04:30:00+00:00",'
        b'"card":"SG@7","due":120,"reason":"Booked twice","own_lot":100,"expired":0,"on_shortfall":"clip","clipped":0}'
    ),
    "given back": (
        b'{"points":80,"of":"api:acme:order-1001","of_kind":"spend","earned":-80,'
        b'"occurred_at":"2026-01-10T04:30:00+00:00","card":"SG@7","due":80,"own_lot":0,"expired":0,"clipped":0}'
    ),
    "refunded at a till": (
        b'{"points":40,"of":"api:acme:lunch-7","of_kind":"spend","earned":-80,"occurred_at":"2026-01-10T04:30:00+00:00",'
        b'"card":"SG@7","due":40,"amount":"5.00","currency":"SGD","of_amount":"10.00","own_lot":0,"expired":0,'
        b'"clipped":0,"money":"4.60","points_left":40,"money_left":"4.60"}'
    ),
    "lapsed whole": (
        b'{"balance":230,"held":50,"expired_on":"2026-07-31","points":-180,"lots_closed":2,"lots_drawn":30}'
    ),
    "lapsed before there were lots": b'{"balance":180,"held":0,"expired_on":"2026-07-31","points":-180}',
    "lapsed by lots": b'{"balance":230,"held":0,"expired_on":"2026-07-31","points":-190,"lots":[[1,180],[4,10]]}',
    "spent": b'{"points":-80,"reason":"A coffee","spent_by":"acme","available":200}',
    "spent at a till": (
        b'{"points":-80,"reason":"A lunch","spent_by":"acme","available":200,"money":"0.80","currency":"SGD",'
        b'"card":"SG@7","price":"10.00"}'
    ),
    "captured": (
        b'{"points":-60,"hold":"5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33","held":-80,"spent_by":"acme","available":220}'
    ),
    "exchanged out": (
        b'{"points":-60,"fee":10,"hold":"5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33","held":-60,'
        b'"exchange":"05c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33","programme":"skymiles@1","partner":"skyways","theirs":25,'
        b'"unit":"miles","spent_by":"acme","available":220}'
    ),
    "exchanged in": (
        b'{"exchange":"05c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33","programme":"skymiles@1","partner":"skyways","theirs":25,'
        b'"unit":"miles","card":"SG@7","points":50}'
    ),
    "held for an exchange": (
        b'{"points":0,"hold":"5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33","held":60,"reason":"An exchange","held_by":"acme",'
        b'"available":220}'
    ),
    "held": (
        b'{"points":0,"hold":"5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33","held":80,"until":"2026-01-10T04:45:00+00:00",'
        b'"reason":"A coffee","held_by":"acme","available":200}'
    ),
    "released": (
        b'{"points":0,"hold":"5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33","held":-80,"because":"expired","available":280}'
    ),
    "adjusted": b'{"points":20000,"reason":"A booking that was lost","by":"ann","approved_by":"bea"}',
    "adjusted without approval": b'{"points":-5,"reason":"A mistake","by":"ann"}',
    "imported": b'{"points":1250,"reason":"opening balance","by":"alice","import":"oldsystem"}',
}


def in_version_1(text: bytes) -> bytes:
    """The explanation as version 1 writes it."""
    return b'{"v":1,' + text[1:]


def calculated(amount: str, points: int) -> bytes:
    """A transaction in Singapore, by a card that need not exist."""
    explanation: Explanation = Calculated(
        amount=amount,
        currency="SGD",
        card="SG@1",
        factors=(("vertical", "rides", "1"), ("eppf", "SG", "1"), ("cashless", "cash", "1"), ("tier", "member", "1")),
        product=amount,
        rounding=Rounding.FLOOR,
        points=points,
    )
    return text_of(explanation)


def granted(points: int) -> bytes:
    """A partner's gift."""
    return text_of(Granted(granted_by="acme", reason="Welcome", card="SG@1", points=points))


def taken_back(of_kind: str, due: int, occurred_at: datetime) -> bytes:
    """The explanation of a reversal whose transfer was made then, when no point of it was left."""
    return text_of(
        Reversed(
            points=0,
            of="txn:rides:T-1001",
            of_kind=of_kind,
            earned=due,
            occurred_at=occurred_at.astimezone(UTC),
            card="SG@1",
            due=due,
            own_lot=0,
            expired=due,
            clipped=0,
        )
    )
