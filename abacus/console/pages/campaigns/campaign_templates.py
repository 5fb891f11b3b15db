"""The demo's campaigns as templates, where the house has their events, in a country that is open."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.console.pages.drafts.begun import place_of
from abacus.console.pages.drafts.draft_kind import Template
from abacus.console.web.calls import Call
from abacus.core.fields import Bad
from abacus.documents.form.example import example
from abacus.engage.campaigns.decide.campaign_form import CAMPAIGN_FORM
from abacus.engage.campaigns.decide.examples import EXAMPLES
from abacus.engage.campaigns.decide.publications import Publications
from abacus.people.types.deed import Deed
from abacus.signals.events.decide.vocabulary import event_type_of

_LASTS: Final = timedelta(days=30)


def begun(call: Call, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A document, or the example of the form, in the first country that is open, for a month from tomorrow on."""
    place = place_of(call, CAMPAIGN_FORM, Deed.EDIT_CAMPAIGNS, _LASTS)
    if document is None:
        return {**example(CAMPAIGN_FORM), **place}
    head = {name: document[name] for name in ("name", "about")}
    return {**head, **place, **{name: value for name, value in document.items() if name not in head}}


def _template(document: Mapping[str, Any]) -> Template[Publications]:
    return Template(
        document["name"], document["about"], lambda call: begun(call, document), lambda around: _fits(document, around)
    )


def _fits(document: Mapping[str, Any], around: Publications) -> bool:
    try:
        for each in document["on"]:
            event_type_of(each, around.sources)
    except Bad:
        return False
    return True


TEMPLATES: Final = tuple(map(_template, EXAMPLES))
