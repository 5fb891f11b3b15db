"""The pages of kinds with a form have its example, as the form makes it."""

from typing import Any, Final

import pytest

from abacus.documents.form.example import example
from abacus.documents.kind import DocumentKind
from abacus.oversight.kinds import KINDS
from tests.support.paths import DOCS

PAGES: Final = {
    "rates": "country-teams/rates.md",
    "events": "country-teams/events.md",
    "counters": "country-teams/counters.md",
    "downstreams": "country-teams/downstreams.md",
    "offers": "country-teams/offers.md",
    "categories": "country-teams/offers.md",
    "contact": "country-teams/notifications.md",
    "places": "country-teams/places.md",
    "campaigns": "country-teams/campaigns.md",
    "rewards": "country-teams/rewards.md",
    "journeys": "country-teams/journeys.md",
    "exchanges": "country-teams/exchange-programmes.md",
    "accounts": "finance-audit/finance.md",
}


@pytest.mark.parametrize("kind", [each for each in KINDS if each.form is not None], ids=lambda kind: kind.command)
def test_the_page_of_a_kind_has_its_example(kind: DocumentKind[Any, Any]) -> None:
    assert kind.form is not None
    text = (DOCS / PAGES[kind.command]).read_text(encoding="utf-8")
    assert f"```toml\n{kind.write(example(kind.form))}```\n" in text
