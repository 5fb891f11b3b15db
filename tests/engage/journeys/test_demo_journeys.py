"""The journeys that the demo runs are those of the guide."""

import tomllib
from pathlib import Path
from typing import Any, Final

from abacus.engage.journeys.decide.examples import come_back, new_year

EXAMPLES: Final = Path(__file__).parents[3] / "docs" / "examples"
_ORDERED: Final = "transactions/transaction.completed"


def guide(name: str) -> dict[str, Any]:
    return tomllib.loads((EXAMPLES / f"journey-{name}.toml").read_text())


def plain(value: Any) -> Any:
    """Without the difference between a list and a tuple."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def test_eleven_branches() -> None:
    told = guide("eleven")
    made = new_year("new_year", {"api": True}, {"at": "10:00", "zone": "country"})
    assert plain(made["nodes"]) == told["nodes"]
    assert len(made["nodes"]["which"]["branch"]) == 11


def test_quiet_members_leave_as_soon_as_they_buy() -> None:
    told = guide("back")
    made = come_back("come_back", _ORDERED, "30d", "7d")
    same = ("month", "miss_you", "week", "gift", "lost")
    assert [made["nodes"][each]["next"] for each in same[1:4]] == [told["nodes"][each]["next"] for each in same[1:4]]
    assert (made["exits"][0]["name"], made["exits"][0]["on"]) == (told["exits"][0]["name"], told["exits"][0]["on"])
