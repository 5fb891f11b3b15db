"""The commands of journeys."""

from typing import Final

COMMANDS: Final = {
    "journeys": "commands:app",
    "journeys aside": "journey_aside:members_aside",
    "journeys report": "journey_report:report_journey",
    "journeys migrate": "journey_migrate:migrate_members",
    "journeys enter": "journey_enter:enter_journey",
    "journeys retry": "journey_aside:retry_members",
    "journeys simulate": "journey_simulate:simulate_journey",
    "journeys where": "journey_where:where_in_journey",
    "journeys dry-run": "journey_dry_run:dry_run_journey",
}
