"""`abacus exchanges conform` and `check-report`: the report is written and signed, and the code says whether all is
green.
"""

import json
from pathlib import Path

import pytest

from abacus.platform.delivery.decide.signature import new_secret
from tests.support.commands import abacus
from tests.support.partner_sim import partner_sim

pytestmark = pytest.mark.once


async def test_a_partner_gets_its_report(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    async with partner_sim() as partner:
        green = await abacus("exchanges", "conform", "--url", partner.url, "--key", partner.secret, "--json")
        assert green.code == 0, green.out + green.err
        assert (green.json["green"], green.json["remembers_refusals"], green.json["reverses"]) == (True, True, True)
        await partner.behaves(forgets_refusals=True)
        red = await abacus(
            *("exchanges", "conform", "--url", partner.url, "--key", partner.secret, "--report", str(file))
        )
    assert red.code == 1
    assert "refused-repeat" in red.out
    assert "are not remembered: points come back by cancel" in red.out
    checked = await abacus("exchanges", "check-report", str(file), "--key", partner.secret, "--json")
    assert (checked.code, checked.json["green"]) == (1, False)
    other = await abacus("exchanges", "check-report", str(file), "--key", new_secret())
    assert (other.code, other.err) == (2, "abacus: the report is not signed with this key\n")
    file.write_text(json.dumps({**checked.json, "green": True}))
    changed = await abacus("exchanges", "check-report", str(file), "--key", partner.secret)
    assert (changed.code, changed.err) == (2, "abacus: the report was changed: its digest is another one\n")


async def test_what_is_no_key_and_no_report_is_refused(tmp_path: Path) -> None:
    ran = await abacus("exchanges", "conform", "--url", "http://127.0.0.1:1", "--key", "secret")
    assert (ran.code, ran.err) == (2, "abacus: --key: whsec_ and 24 to 64 bytes in base64 are needed\n")
    none = await abacus("exchanges", "check-report", str(tmp_path / "none"), "--key", new_secret())
    assert none.code == 2
    missing = await abacus("exchanges", "partner-sim", "--port", "0", "--key", new_secret(), "--house", "https://h")
    assert (missing.code, missing.err) == (2, "abacus: --house needs --house-key, the partner's key there\n")
