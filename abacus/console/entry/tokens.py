"""The tokens of the console, each told by its start. Only digests are kept."""

from typing import Final

from abacus.core.tokens import TokenForm

SESSION_TOKEN: Final = TokenForm("abs_")  # the cookie of a person who is in
LINK_TOKEN: Final = TokenForm("abl_")  # in an address that lets in once
VISIT_TOKEN: Final = TokenForm("abv_")  # the cookie of a browser on its way in; kept nowhere
