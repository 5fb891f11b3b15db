"""What trials of journeys say, in sentences and tables: one member's way, and how many would take each way. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from abacus.console.decide.trials import TrialWords
from abacus.console.errands.decide.documents import Cell, Column, Table

Document = Mapping[str, Any]
_LOOKED: Final = (
    Column("when"),
    Column("node"),
    Column("condition"),
    Column("value"),
    Column("outcome", is_badge=True),
)


def went(document: Document) -> TrialWords:
    """Which way one member would go."""
    rows: list[list[Cell]] = list(_seen("the entry", "", document["conditions"]))
    if document["against"] is not None:
        says = [f"{document['member_id']} does not enter: {document['against']}."]
    else:
        says = [_leg(each) for each in document["legs"]]
    for leg in document["legs"]:
        for passed in leg["trail"]:
            rows += _seen(leg["at"], passed["node"], passed["conditions"])
        if leg["left"] is not None:
            rows += _seen(leg["at"], leg["left"]["node"] or "", leg["left"]["conditions"])
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


def _leg(leg: Document) -> str:
    """A walk from one wait to the next."""
    ways = [each["node"] + (f" ({each['way']})" if each["way"] else "") for each in leg["trail"]]
    done = [f"{', '.join(each['do'])} at {each['node']}" for each in leg["done"]]
    if leg["left"] is not None:
        end = f"leaves: {leg['left']['reason']}"
    else:
        waits = leg["waits"]
        end = f"waits for {waits['for']}" + (f" until {waits['over']}" if waits["over"] else "")
    said = f"{leg['at']}, {leg['woken']}: {' → '.join([*ways, end])}."
    return f"{said} Done: {'; '.join(done)}." if done else said


def _seen(at: str, node: str, conditions: Any) -> Iterator[list[Cell]]:
    for each in conditions:
        yield [at, node, each["condition"], each["value"], "holds" if each["holds"] else "does not hold"]
