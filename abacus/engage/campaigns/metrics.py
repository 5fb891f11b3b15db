"""The metrics of campaigns, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter

# Events that the campaigner worker read, by topic and outcome: read, answered (some campaign's conditions hold),
# set_aside. And what came of them for campaigns, by outcome (the closed list of campaigns.decide.run.Outcome).
CAMPAIGN_EVENTS: Final = Counter("abacus_campaign_events", "Events read by the campaigner", ["topic", "outcome"])
CAMPAIGN_RUNS: Final = Counter("abacus_campaign_runs", "Events decided for campaigns, by outcome", ["outcome"])
