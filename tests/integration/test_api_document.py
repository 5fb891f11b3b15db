"""schemathesis against the OpenAPI document: no 5xx, no undocumented status, no body that is not as described."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.integration.house import House
from tests.integration.shop import register, shop

SEED = 20261121
EXAMPLES = 5  # an operation and phase; some 1,250 requests in all, most to cover the document
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.long
async def test_the_api_is_as_its_document_says(house: House, tmp_path: Path) -> None:
    key = await register(house)
    async with shop(house, "awarder") as opened:
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={CONFIGURATION}",
            "run",
            f"{opened.url}/openapi.json",
            f"--header=Authorization: Bearer {key}",
            f"--max-examples={EXAMPLES}",
            f"--seed={SEED}",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        said = (await process.stdout.read()).decode()
        assert await process.wait() == 0, said
        assert "Tested: 19" in said
