"""A campaign as a document, and the changes from one version to the next in words. Pure."""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta

from abacus.core.document_text import Tables, write_toml
from abacus.core.lengths import length_text
from abacus.documents.decide.heading import heading_document
from abacus.engage.campaigns.decide.campaign import LIMIT_WORDS, Campaign, Period
from abacus.engage.campaigns.decide.step_reader import step_document
from abacus.engage.limits.decide.limit_reader import limits_document


def to_document(campaign: Campaign) -> dict[str, object]:
    """The campaign as JSON holds it; its version is no part of that. `parse_campaign` makes the same campaign of it."""
    document = heading_document(campaign)
    document["on"] = ["/".join(each) for each in campaign.on]
    if campaign.when is not None:
        document["when"] = dict(campaign.when)
    if campaign.over is not Period.CAMPAIGN:
        document["over"] = length_text(campaign.over) if isinstance(campaign.over, timedelta) else campaign.over.value
    document["steps"] = [step_document(step) for step in campaign.steps]
    document["limits"] = limits_document(campaign.limits, LIMIT_WORDS)
    if campaign.split:
        document |= {"split": dict(campaign.split), "goal": campaign.goal}
    if campaign.priority:
        document["priority"] = campaign.priority
    if campaign.exclusive is not None:
        document["exclusive"] = campaign.exclusive
    if campaign.respects_holdout:
        document["respects_holdout"] = True
    return document


def to_toml(campaign: Campaign) -> str:
    """The campaign as a file to edit."""
    return toml_of(to_document(campaign))


def toml_of(document: Mapping[str, object]) -> str:
    """A document as a file to edit, be it a campaign already or not. Steps and actions have headings of their own."""
    steps = _tables(document.get("steps"))
    if steps is None:
        return write_toml(document)
    headed = [each if (do := _tables(each.get("do"))) is None else {**each, "do": do} for each in steps]
    return write_toml({**document, "steps": Tables(headed)})


def _tables(value: object) -> Tables | None:
    """None for what is no array of tables."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, Mapping) for each in value):
        return None
    return Tables(value)


def described(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(campaign).items():
        if name == "limits" and isinstance(value, dict):
            yield from ((f"limits.{each}", _words(inner)) for each, inner in value.items())
        elif name == "steps" and isinstance(value, list):
            yield from ((f"steps[{place}]", _words(step)) for place, step in enumerate(value))
        else:
            yield name, _words(value)


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
