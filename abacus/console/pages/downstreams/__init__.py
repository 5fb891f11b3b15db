"""The pages of downstreams."""

from typing import Final

from abacus.console.pages.downstreams import downstream_deeds
from abacus.console.pages.downstreams.downstreams import DOWNSTREAM_REGISTER
from abacus.console.pages.drafts.register import register_pages
from abacus.console.pages.forms.form_page import form_pages
from abacus.console.web.routes import form
from abacus.engage.downstreams.kind import DOWNSTREAMS

_DEED: Final = DOWNSTREAMS.deed

SERVED: Final = (
    *register_pages(DOWNSTREAM_REGISTER),
    form("/downstreams/{document}/try", downstream_deeds.try_it, _DEED, everywhere=True),
    *form_pages("/downstreams/{document}/secret", _DEED, downstream_deeds.another_secret),
    *form_pages("/downstreams/{document}/retire", _DEED, downstream_deeds.retirement),
)
