"""The commands of rate cards."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "rates": "commands:app",
    "rates backtest": "backtest:backtest",
    "rates quote": "quote:quote",
}
