"""Rates of requests, and values of a partner: small rules, each by itself."""

from datetime import UTC, datetime

import pytest

from abacus.core.errors import Refused
from abacus.intake.partners.decide.partner import Partner, checked

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PARTNER = Partner(
    partner_id="acme",
    name="Acme",
    fixed_points=True,
    computed_points=False,
    countries=("SG",),
    card_scope=None,
    requests_per_minute=60,
    signing_secret=None,
    created_at=NOW,
    created_by="ann",
    disabled_at=None,
)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"partner_id": "Acme"}, "small letters"),
        ({"partner_id": "a:b"}, "small letters"),
        ({"name": " "}, "--name"),
        ({"fixed_points": False}, "may do nothing"),
        ({"countries": ("sg",)}, "'sg' is not a country"),
        ({"requests_per_minute": 0}, "--requests-per-minute"),
    ],
)
def test_a_partner_that_makes_no_sense(changes: dict[str, object], what: str) -> None:
    with pytest.raises(Refused, match=what):
        checked(PARTNER._replace(**changes))  # type: ignore[arg-type]  # a table of changes
