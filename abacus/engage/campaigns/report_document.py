"""The report of a campaign as a document, with the intervals of its arms."""

from datetime import datetime
from typing import Any

from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.campaign import CONTROL
from abacus.engage.campaigns.decide.interval import Interval, difference_interval, share_interval
from abacus.engage.campaigns.decide.limit_reader import limits_document
from abacus.engage.campaigns.report import ArmLine, CampaignReport, Glance, faults_of, used_overall
from abacus.engage.limits.types import MICROS


def report_document(record: CampaignRecord, found: CampaignReport, now: datetime) -> dict[str, Any]:
    """The report as JSON."""
    used = used_overall(found)
    return {
        "campaign": record.document.label,
        "state": record.state(now),
        "limits": limits_document(record.document.limits),
        "used": {"runs": used.runs, "points": used.points, "cost": used.cost / MICROS},
        "events": found.claims,
        "posted": found.posted,
        "seen": {str(day): events for day, events in found.seen.items()},
        "days": [{**line._asdict(), "cost": line.cost / MICROS} for line in found.days],
        "actions": [line._asdict() for line in found.actions],
        "arms": [_arm(line, found) for line in found.arms],
        "comes_out": not faults_of(found),
    }


def _arm(line: ArmLine, found: CampaignReport) -> dict[str, Any]:
    return {
        **line._asdict(),
        "cost": line.cost / MICROS,
        "share": line.conversions / line.members if line.members else None,
        "interval": _document_of(share_interval(line.conversions, line.members)),
        "against_control": _document_of(against_control(line, found)),
    }


def _document_of(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else interval._asdict()


def against_control(line: ArmLine, found: CampaignReport | Glance) -> Interval | None:
    """How much greater the share of conversions is than without the campaign."""
    control = next((each for each in found.arms if each.variant == CONTROL), None)
    if control is None or line.variant == CONTROL:
        return None
    return difference_interval(line.conversions, line.members, control.conversions, control.members)
