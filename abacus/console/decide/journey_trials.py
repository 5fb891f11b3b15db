"""What trials of journeys say, in sentences and tables: one member's way, and how many would take each way. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.trials import TrialWords
from abacus.console.errands.decide.documents import Cell, Column, Table

Document = Mapping[str, Any]
_WOKEN: Final[Mapping[str, str]] = {"entered": "it enters", "due": "the time has come", "event": "an event comes"}
_WAITS: Final[Mapping[str, str]] = {
    "event": " for an event",
    "rule": " for its rule",
    "quiet": " for the end of quiet hours",
    "rate": " for its turn",
}
_LOOKED: Final = (
    Column("when"),
    Column("node"),
    Column("condition"),
    Column("value"),
    Column("outcome", is_badge=True),
)


def went(document: Document) -> TrialWords:
    """Which way one member would go."""
    zone = ZoneInfo(document["timezone"])
    rows: list[list[Cell]] = list(_seen("the entry", "", document["conditions"]))
    if document["against"] is not None:
        says = [f"{document['member_id']} does not enter: {document['against']}."]
    else:
        says = [f"The clock is that of {zone}.", *(_leg(each, zone) for each in document["legs"])]
    for leg in document["legs"]:
        at = _local(leg["at"], zone)
        for passed in leg["trail"]:
            rows += _seen(at, passed["node"], passed["conditions"])
        if leg["left"] is not None:
            rows += _seen(at, leg["left"]["node"] or "", leg["left"]["conditions"])
    tables = [Table("decisions", "Decisions, with the values that they were made by", _LOOKED, rows, len(rows))]
    return TrialWords(says, tables if rows else ())


def would_take(document: Document) -> TrialWords:
    """How many members of a segment would take each way."""
    looked_at, members = document["looked_at"], document["members"]
    some = f"A sample: {looked_at:,} of the {members:,} members of {document['segment']} were looked at."
    says = [
        some if looked_at < members else f"All {members:,} members of {document['segment']} were looked at.",
        f"{document['entered']:,} of them would enter.",
        *(f"{each['members']:,} would not: {each['reason']}." for each in document["against"]),
        *([f"Of {document['unknown']:,} a value cannot be told now."] if document["unknown"] else []),
    ]
    ways: list[list[Cell]] = [
        [each["node"], each["way"] or "–", each["to"] or "–", each["members"]] for each in document["ways"]
    ]
    left: list[list[Cell]] = [[each["reason"], each["members"]] for each in document["left"]]
    count = Column("members", is_number=True)
    tables = [
        Table(
            "ways",
            "Members by the ways they would take",
            [Column("node"), Column("way"), Column("to"), count],
            ways,
            len(ways),
        ),
        Table("left", "Why they would leave", [Column("reason"), count], left, len(left)),
    ]
    return TrialWords(says, [each for each in tables if each.rows])


def _leg(leg: Document, zone: ZoneInfo) -> str:
    """A walk from one wait to the next."""
    ways = [each["node"] + (f" ({each['way']})" if each["way"] else "") for each in leg["trail"]]
    done = [f"{', '.join(each['do'])} at {each['node']}" for each in leg["done"]]
    if leg["left"] is not None:
        end = f"leaves: {leg['left']['reason']}"
    else:
        waits = leg["waits"]
        why = _WAITS.get(waits["for"], "")
        end = f"waits at {waits['node']}{why}" + (f" until {_local(waits['over'], zone)}" if waits["over"] else "")
    said = f"{_local(leg['at'], zone)}, {_WOKEN.get(leg['woken'], leg['woken'])}: {' → '.join([*ways, end])}."
    return f"{said} Done: {'; '.join(done)}." if done else said


def _local(at: str, zone: ZoneInfo) -> str:
    return f"{datetime.fromisoformat(at).astimezone(zone):%Y-%m-%d %H:%M}"


def _seen(at: str, node: str, conditions: Any) -> Iterator[list[Cell]]:
    for each in conditions:
        yield [at, node, each["condition"], each["value"], "holds" if each["holds"] else "does not hold"]
