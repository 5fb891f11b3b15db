"""docs/operate/sizing.md: its second table follows from its first."""

from decimal import Decimal

from benchmarks.sizing import PAGE, costs_in, with_table

COSTS = {
    "calculator",
    "awarder",
    "relay",
    "postgres",
    "transaction",
    "award",
    "awards a message",
    "event",
    "transfer",
    "claim",
    "log",
}
EXAMPLE = """
| `calculator` | 100 | µs |
| `awarder` | 50 | µs |
| `relay` | 20 | µs |
| `postgres` | 70 | µs |
| `transaction` | 250 | bytes |
| `award` | 500 | bytes |
| `awards a message` | 50 | |
| `event` | 600 | bytes |
| `transfer` | 480 | bytes |
| `claim` | 120 | bytes |
| `log` | 1000 | bytes |

| a day | something old |
| --- | --- |

The end.
"""


def test_the_page_says_what_follows_from_its_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert costs_in(page).keys() == COSTS
    assert page == with_table(page), "run `python -m benchmarks.sizing`"


def test_the_arithmetic_by_hand() -> None:
    """864 million a day are 10,000/s, so 30,000/s at the peak; a core does 1,000,000 µs a second, at 70 %."""
    assert costs_in(EXAMPLE)["calculator"] == Decimal(100)
    table = {
        cells[0]: cells[1:]
        for line in with_table(EXAMPLE).splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 4
    }
    assert table["a day"] == ["100 million", "1,000 million", "10,000 million"]
    assert table["transactions/s, average and peak"][1] == "11,574, 34,722"
    assert table["calculators, of a core each"] == ["1", "5", "50"]  # 0.35, 3.5 and 34.7 cores, at 70 %
    assert table["relays that one core each would need"] == ["1", "1", "10"]
    assert table["cores of Postgres"] == ["1", "4", "35"]
    assert table["ledgers, of 16 cores and one relay each"] == ["1", "1", "10"]
    # 20 million messages; ten of them are 250,000 bytes: four requests to send, four to receive, one to delete.
    assert table["requests to SQS that are billed"][1] == "18.0 million"
    assert table["transactions topic, MB/s at the peak"][1] == "9"
    assert table["ledger, GB more each day"][1] == "600"
    assert table["Postgres' log, GB each day"][1] == "1,000"
    assert "something old" not in with_table(EXAMPLE)
