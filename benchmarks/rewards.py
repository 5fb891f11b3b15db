"""Rewards: codes loaded into a pool, and redemptions of one reward, in the process and over HTTP."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from abacus.cli.house.stack import make_ready
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.encryption import new_keyring_text
from abacus.platform.postgres import open_pool
from abacus.platform.settings import Settings
from benchmarks import redemptions, reward_codes
from benchmarks.report import Figure

_FEW_CODES: Final = 40_000
_SHORT_S: Final = 2.0


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            secrets_key=new_keyring_text("bench"),
        )
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=2, role=None)
        stack.push_async_callback(pool.close)
        codes, seconds = (_FEW_CODES, _SHORT_S) if short else (reward_codes.CODES, redemptions.SECONDS)
        return [
            *await reward_codes.measure(pool, settings, directory / "codes.txt", codes),
            *await redemptions.measure(pool, settings, seconds),
        ]
