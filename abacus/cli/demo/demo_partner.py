"""A partner of the demo, who spends points, asks for offers, and says where members are."""

from collections.abc import Sequence

from abacus.cli.terminal.command_actor import CommandActor
from abacus.intake.partners.decide.partner import Partner


def demo_partner(partner_id: str, name: str, countries: Sequence[str], at: CommandActor, *, awards: bool) -> Partner:
    """It is made now, by this person."""
    return Partner(
        partner_id=partner_id,
        name=name,
        fixed_points=awards,
        computed_points=awards,
        countries=tuple(countries),
        card_scope=None,
        requests_per_minute=60_000,
        signing_secret=None,
        created_at=at.clock.now(),
        created_by=at.actor.source,
        disabled_at=None,
        may_spend=True,
        may_use_offers=True,
        may_explain_offers=True,
        may_send_positions=True,
    )
