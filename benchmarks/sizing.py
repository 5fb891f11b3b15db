"""`python -m benchmarks.sizing`: the machines for so many transactions a day, from the cost of one transaction.

The cost of one transaction stands in the first table of docs/operate/sizing.md, with the command that prints it. The
second table there is arithmetic, done here and written there. `--check` says whether the page has the current result.
"""

import math
import re
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[1] / "docs" / "operate" / "sizing.md"
DAYS: Final = (100_000_000, 1_000_000_000, 10_000_000_000)  # transactions of a day
PEAK: Final = 3  # times the average
BUSY: Final = Decimal("0.7")  # of a core; more, and a burst waits
SERVER: Final = 16  # cores of a Postgres server
IN_A_CALL: Final = 10  # messages
BILLED: Final = 64 * 1024  # bytes that count as one request to SQS
SECONDS: Final = 86_400

_COST: Final = re.compile(r"^\| `([a-z ]+)` \| ([\d.]+) \|", re.MULTILINE)
_TABLE: Final = re.compile(r"^\| a day \|.*?\n\n", re.MULTILINE | re.DOTALL)

Costs = Mapping[str, Decimal]


def costs_in(page: str) -> Costs:
    """The first table: microseconds of CPU and bytes, of one transaction."""
    return {name: Decimal(figure) for name, figure in _COST.findall(page)}


def with_table(page: str) -> str:
    """The page with the second table as it follows from the first."""
    costs = costs_in(page)
    columns = [dict(_needs(costs, day)) for day in DAYS]
    lines = [[name, *(column[name] for column in columns)] for name in columns[0]]
    head = ["a day", *(f"{day // 1_000_000:,} million" for day in DAYS)]
    table = [head, ["---", *["---:"] * len(DAYS)], *lines]
    return _TABLE.sub("".join(f"| {' | '.join(line)} |\n" for line in table) + "\n", page, count=1)


def _needs(costs: Costs, day: int) -> Iterator[tuple[str, str]]:
    average = Decimal(day) / SECONDS
    peak = average * PEAK
    yield "transactions/s, average and peak", f"{average:,.0f}, {peak:,.0f}"
    for worker in ("calculator", "awarder"):
        yield f"{worker}s, of a core each", f"{_cores(costs[worker], peak):,}"
    relays = _cores(costs["relay"], peak)
    yield "relays that one core each would need", f"{relays:,}"
    postgres = _cores(costs["postgres"], peak)
    yield "cores of Postgres", f"{postgres:,}"
    yield f"ledgers, of {SERVER} cores and one relay each", f"{max(relays, math.ceil(Decimal(postgres) / SERVER)):,}"
    messages = Decimal(day) / costs["awards a message"]
    whole = costs["award"] * costs["awards a message"] * IN_A_CALL
    billed = 2 * math.ceil(whole / BILLED) + 1  # sent, received, and deleted
    yield "requests to SQS that are billed", f"{messages / IN_A_CALL * billed / 1_000_000:,.1f} million"
    yield "transactions topic, MB/s at the peak", f"{peak * costs['transaction'] / 1_000_000:,.0f}"
    yield "points topic, MB/s at the peak", f"{peak * costs['event'] / 1_000_000:,.0f}"
    yield "ledger, GB more each day", f"{day * (costs['transfer'] + costs['claim']) / 1_000_000_000:,.0f}"
    yield "Postgres' log, GB each day", f"{day * costs['log'] / 1_000_000_000:,.0f}"
    yield "… MB/s at the peak", f"{peak * costs['log'] / 1_000_000:,.0f}"


def _cores(microseconds: Decimal, per_s: Decimal) -> int:
    return math.ceil(per_s * microseconds / 1_000_000 / BUSY)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    right = with_table(page)
    if "--check" in sys.argv[1:]:
        return int(page != right)
    PAGE.write_text(right, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
