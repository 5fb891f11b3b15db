"""The commands of rate cards."""

from typing import Final

COMMANDS: Final = {
    "rates": "commands:app",
    "rates backtest": "backtest:backtest",
    "rates quote": "quote:quote",
}
