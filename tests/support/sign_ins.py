"""Members who sign in at the reference partner, as their browsers do."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

from abacus.exchanges.partner_sim.sign_in import CLIENT_ID

BACK: Final = "https://app.example/linked"


def oauth_part(url: str, **changed: Any) -> dict[str, Any]:
    """The part of a programme whose members sign in at this partner."""
    return {
        "authorize_url": f"{url}/oauth/authorize",
        "token_url": f"{url}/oauth/token",
        "account_url": f"{url}/oauth/account",
        "client_id": CLIENT_ID,
        "redirect_uris": [BACK, "com.example.app:/linked"],
        "issuer": url,
        **changed,
    }


async def signed_in(authorize_url: str, number: str, holder: str = "") -> Mapping[str, str]:
    """What comes to the redirect address."""
    url = httpx.URL(authorize_url).copy_merge_params({"login_hint": number, "name": holder})
    async with httpx.AsyncClient() as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    return dict(parse_qsl(answer.headers["location"].partition("?")[2]))
