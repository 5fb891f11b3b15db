"""A partner in words, and as a document: for `list`, `show` and `set`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from abacus.intake.partners.decide.partner import Partner, PartnerKey
from abacus.intake.partners.store import Registered
from abacus.ledger.types.limits import Limits

PartnerId = Annotated[str, typer.Argument(metavar="PARTNER", help="The partner's id, for example acme.")]

RIGHTS: Final = {
    "fixed_points": "fixed",
    "computed_points": "computed",
    "may_spend": "spend",
    "may_adjust": "adjust",
    "may_see_others": "see others",
    "may_count": "count",
    "may_read_members": "read members",
    "may_use_offers": "offers",
    "may_explain_offers": "explain offers",
    "may_load_places": "load places",
    "may_send_positions": "positions",
    "may_exchange": "exchanges",
}


def document(registered: Registered) -> dict[str, Any]:
    partner, allowance = registered.partner, registered.allowance
    return {
        **{name: value for name, value in partner._asdict().items() if name != "signing_secret"},
        "signed": partner.signing_secret is not None,
        "limits": allowance.limits._asdict(),
        "awarded": {"in_total": allowance.used, "day": allowance.day, "that_day": allowance.used_that_day},
        "keys": [{name: value for name, value in key._asdict().items() if name != "digest"} for key in registered.keys],
    }


def row(registered: Registered, now: datetime) -> list[str]:
    partner, allowance = registered.partner, registered.allowance
    return [
        partner.partner_id,
        partner.name,
        rights_in_words(partner),
        countries_in_words(partner),
        limits_in_words(allowance.limits),
        f"{allowance.used:,}",
        "\n".join(key.prefix for key in registered.keys if key.holds(now)),
        _since(partner),
    ]


def lines(registered: Registered, now: datetime) -> Iterator[str]:
    """One partner, a line for each fact."""
    partner, allowance = registered.partner, registered.allowance
    yield f"{partner.partner_id}: {partner.name}, {_since(partner)}"
    yield f"may: {rights_in_words(partner)}"
    yield f"countries: {countries_in_words(partner)}"
    yield f"sources: {sources_in_words(partner)}"
    yield f"requests a minute: {partner.requests_per_minute:,}; {'signed' if partner.signing_secret else 'not signed'}"
    yield f"limits: {limits_in_words(allowance.limits)}"
    yield f"awarded: {allowance.used:,}, of these {allowance.used_that_day:,} on {allowance.day}"
    for key in registered.keys:
        yield f"key {key.prefix}…: {_key(key, now)}"


def rights_in_words(partner: Partner) -> str:
    rights = ", ".join(word for name, word in RIGHTS.items() if getattr(partner, name))
    return f"{rights} by {partner.card_scope}" if partner.card_scope else rights


def countries_in_words(partner: Partner) -> str:
    return ", ".join(partner.countries) or "all"


def sources_in_words(partner: Partner) -> str:
    """The sources of transactions that it may name."""
    return "any" if partner.sources is None else ", ".join((partner.partner_id, *partner.sources))


def limits_in_words(limits: Limits) -> str:
    words = ("an award", "a member and day", "a day", "in all")
    return (
        ", ".join(f"{value:,} {word}" for value, word in zip(limits, words, strict=True) if value is not None) or "none"
    )


def _since(partner: Partner) -> str:
    if partner.disabled_at is not None:
        return f"disabled {partner.disabled_at:%Y-%m-%d}"
    return f"{partner.created_at:%Y-%m-%d} by {partner.created_by}"


def _key(key: PartnerKey, now: datetime) -> str:
    ends = f"ends {key.expires_at:%Y-%m-%d %H:%M} UTC" if key.expires_at else "valid"
    used = f"last used {key.last_used_at:%Y-%m-%d %H:%M} UTC" if key.last_used_at else "never used"
    return f"{ends if key.holds(now) else 'ended'}, {used}"
