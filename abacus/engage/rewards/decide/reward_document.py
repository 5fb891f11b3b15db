"""A reward as a document, and the changes from one version to the next in words. Pure."""

import json
from collections.abc import Iterator, Mapping

from abacus.core.document_text import write_toml
from abacus.core.lengths import length_text
from abacus.core.points import plain
from abacus.documents.decide.heading import heading_document
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.rewards.decide.reward import (
    LIMIT_WORDS,
    AsPoints,
    ByInvitation,
    ByWebhook,
    Delivery,
    FromPool,
    Price,
    Reward,
    Texts,
)

_IN_PARTS = ("texts", "price", "limits", "delivery")


def to_document(reward: Reward) -> dict[str, object]:
    """The reward as JSON holds it; its version is no part of that. `parse_reward` makes the same reward of it."""
    document = heading_document(reward)
    if reward.picture is not None:
        document["picture"] = reward.picture
    document["texts"] = {language: texts_document(each) for language, each in reward.texts.items()}
    document["price"] = _price(reward.price)
    document["delivery"] = _delivery(reward.delivery)
    if reward.when is not None:
        document["when"] = dict(reward.when)
    document["limits"] = limits_document(reward.limits, LIMIT_WORDS)
    if reward.payer is not None:
        document["paid_by"] = {reward.payer.kind: reward.payer.name}
    return document


def texts_document(texts: Texts) -> dict[str, str]:
    return {name: text for name, text in texts._asdict().items() if text}


def to_toml(reward: Reward) -> str:
    """The reward as a file to edit."""
    return write_toml(to_document(reward))


def described(reward: Reward) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(reward).items():
        if name in _IN_PARTS and isinstance(value, Mapping):
            yield from ((f"{name}.{each}", _words(inner)) for each, inner in value.items())
        else:
            yield name, _words(value)


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _price(price: Price) -> dict[str, object]:
    document: dict[str, object] = {"points": price.points}
    if price.tiers:
        document["tiers"] = dict(price.tiers)
    if price.segments:
        document["segments"] = dict(price.segments)
    if price.money is not None:
        document["money"] = {
            "least_points": price.money.least_points,
            "point_pays": plain(price.money.point_pays),
        }
    return document


def _delivery(delivery: Delivery) -> dict[str, object]:
    match delivery:
        case FromPool(pool, low):
            return {"pool": pool, "low": low} if low else {"pool": pool}
        case ByWebhook(webhook, partner, late_after):
            reports = {} if partner is None else {"partner": partner}
            return {"webhook": webhook, **reports, "late_after": length_text(late_after)}
        case ByInvitation(offer):
            return {"offer": offer}
        case AsPoints(program, points):
            return {"program": program, "points": points}
