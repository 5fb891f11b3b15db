"""The client's settings: what AWS' chain lacks is said in one line."""

from pathlib import Path

import pytest

from abacus.core.errors import Refused
from abacus.queues.sqs import sqs_client


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


async def test_aws_without_a_region_is_refused() -> None:
    with pytest.raises(Refused, match="AWS_DEFAULT_REGION"):
        async with sqs_client(None):
            pass


async def test_an_endpoint_of_ones_own_needs_neither_region_nor_credentials() -> None:
    async with sqs_client("http://127.0.0.1:1") as client:
        assert client.meta.endpoint_url == "http://127.0.0.1:1"
