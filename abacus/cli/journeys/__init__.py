"""The commands of journeys."""

from typing import Final

COMMANDS: Final = {
    "journeys": "commands:app",
    "journeys simulate": "journey_simulate:simulate_journey",
}
