"""The kinds of transfers, as one table: a row says what all transfers of a kind have in common. Pure."""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Final, NamedTuple, get_args

from abacus.pricing.explanation.types import (
    Adjusted,
    Captured,
    Earned,
    ExchangedIn,
    ExchangedOut,
    Explanation,
    Held,
    Imported,
    Lapsed,
    Released,
    Reversed,
    Spent,
)


class TransferKind(StrEnum):
    """The kind of change that a transfer makes."""

    EARN = "earn"
    EXPIRE = "expire"
    SPEND = "spend"
    REVERSE = "reverse"
    ADJUST = "adjust"
    HOLD = "hold"
    RELEASE = "release"
    EXCHANGE_OUT = "exchange_out"
    EXCHANGE_IN = "exchange_in"


class Effect(Enum):
    """The effect of a kind on a number of points."""

    NONE = auto()
    ADDS = auto()
    TAKES = auto()
    EITHER = auto()


class Columns(NamedTuple):
    """The columns of the reports: `moved` in the rollforward, where points stand with this `sign`; in the cohorts
    `came` for points that come and `went` for points that go; in the activity of a month `came_as` and `went_as`.

    A kind that only takes points has no `came`, a kind that only adds points has no `went`.
    """

    moved: str
    sign: int
    came: str | None
    came_as: str
    went: str | None
    went_as: str


class KindRow(NamedTuple):
    """A row of the table.

    `event` is the type on the points stream, `explained_by` the explanations that such a transfer may have. `points`
    and `held` are the effects on the balance and on the held points. A kind without `columns` stands in no report. A
    reversal may take back a `reversible` kind. Points of a kind `for_tiers` count for the tier. A kind is `awarded` if
    awards are of it. Somebody answers for a kind `on_word`: a second person may have to approve it, the log names the
    actor, and points that a partner adds by it count against the partner's limits.
    """

    event: str
    explained_by: tuple[type[Explanation], ...]
    points: Effect
    columns: Columns | None
    held: Effect = Effect.NONE
    reversible: bool = False
    for_tiers: bool = False
    awarded: bool = False
    on_word: bool = False


# In the order of the rollforward's columns.
KINDS: Final[Mapping[TransferKind, KindRow]] = {
    TransferKind.EARN: KindRow(
        event="abacus.points.earned.v1",
        explained_by=get_args(Earned),
        points=Effect.ADDS,
        columns=Columns("issued", 1, "earned", "issued", None, "issued"),
        reversible=True,
        for_tiers=True,
        awarded=True,
    ),
    TransferKind.EXCHANGE_IN: KindRow(
        event="abacus.points.exchanged_in.v1",
        explained_by=(ExchangedIn,),
        points=Effect.ADDS,
        columns=Columns("exchanged_in", 1, "exchanged_in", "exchanged_in", None, "exchanged_in"),
        awarded=True,
    ),
    TransferKind.SPEND: KindRow(
        event="abacus.points.spent.v1",
        explained_by=(Spent, Captured),
        points=Effect.TAKES,
        columns=Columns("spent", -1, None, "used", "spent", "used"),
        held=Effect.TAKES,
        reversible=True,
    ),
    TransferKind.EXCHANGE_OUT: KindRow(
        event="abacus.points.exchanged_out.v1",
        explained_by=(ExchangedOut,),
        points=Effect.TAKES,
        columns=Columns("exchanged_out", -1, None, "exchanged_out", "exchanged_out", "exchanged_out"),
        held=Effect.TAKES,
        reversible=True,
    ),
    TransferKind.EXPIRE: KindRow(
        event="abacus.points.expired.v1",
        explained_by=get_args(Lapsed),
        points=Effect.TAKES,
        columns=Columns("expired", -1, None, "expired", "expired", "expired"),
    ),
    TransferKind.REVERSE: KindRow(
        event="abacus.points.reversed.v1",
        explained_by=(Reversed,),
        points=Effect.EITHER,
        columns=Columns("reversed", -1, "returned", "used", "reversed", "issued"),
        for_tiers=True,
        on_word=True,
    ),
    TransferKind.ADJUST: KindRow(
        event="abacus.points.adjusted.v1",
        explained_by=(Adjusted, Imported),
        points=Effect.EITHER,
        columns=Columns("adjusted", 1, "added", "added", "adjusted", "added"),
        reversible=True,
        on_word=True,
    ),
    TransferKind.HOLD: KindRow(
        event="abacus.points.held.v1",
        explained_by=(Held,),
        points=Effect.NONE,
        columns=None,
        held=Effect.ADDS,
    ),
    TransferKind.RELEASE: KindRow(
        event="abacus.points.released.v1",
        explained_by=(Released,),
        points=Effect.NONE,
        columns=None,
        held=Effect.TAKES,
    ),
}

REVERSIBLE: Final = frozenset(kind for kind, row in KINDS.items() if row.reversible)
FOR_TIERS: Final = frozenset(kind for kind, row in KINDS.items() if row.for_tiers)
AWARDED: Final = frozenset(kind for kind, row in KINDS.items() if row.awarded)
ON_WORD: Final = frozenset(kind for kind, row in KINDS.items() if row.on_word)
OF_HELD: Final = frozenset(kind for kind, row in KINDS.items() if row.held is not Effect.NONE)
