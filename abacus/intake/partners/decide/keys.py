"""API keys of partners: tokens that begin with `abk_live_` or, for the sandbox, `abk_test_`. Pure."""

from typing import Final

from abacus.core.tokens import TokenForm, new_secret_text

LIVE_KEY: Final = TokenForm("abk_live_")
TEST_KEY: Final = TokenForm("abk_test_")


def new_signing_secret() -> str:
    return f"abs_{new_secret_text()}"
