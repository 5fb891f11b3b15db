"""A coffee for points, with codes of a pool: some members buy one each week of late, and one brings it back. A voucher,
which its fulfiller never sends.
"""

from datetime import date, timedelta
from typing import Final

from abacus.cli.demo.catalogue import COFFEE, VOUCHER
from abacus.cli.demo.chapters.offers import shelves_of
from abacus.cli.demo.chapters.partner import at_the_api
from abacus.cli.demo.counter import asked
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.platform.encryption import Secrets

_COME_ON: Final = 5  # the weekday
_SINCE: Final = timedelta(days=56)
_BUYERS: Final = ("bob", "eve", *(f"sg-{number}" for number in range(1020, 1026)))


class Rewards(Chapter):
    """Cleo loads the codes and publishes, dora approves, and olga opens the way to the fulfiller. Without a key for
    secrets there are no rewards.
    """

    looks = (Look("sid", "/rewards", "what points buy: its codes, what was redeemed, and what came back"),)

    async def begin(self) -> None:
        self._secrets = Secrets.of(self.house.settings.secrets_key)
        if self._secrets.encrypts:
            shelves = shelves_of(self.house)
            await shelves.open_the_fulfiller(self.house.at("olga"), self._secrets)
            await shelves.fill_with_rewards(self.house.at("cleo"), self._secrets)

    async def day(self, day: date) -> None:
        if day.weekday() != _COME_ON or self.house.today - day >= _SINCE or not self._secrets.encrypts:
            return
        async with at_the_api(self.house) as acme:
            for member in _BUYERS:
                path = f"/v1/members/{member}/redemptions"
                bought = await asked(acme, path, {"reward": COFFEE}, key=f"coffee-{day}-{member}")
                if bought.is_success and member == _BUYERS[0]:
                    await asked(acme, f"{path}/{bought.json()['redemption_id']}/return")

    async def end(self) -> None:
        if self._secrets.encrypts:
            async with at_the_api(self.house) as acme:
                await asked(acme, f"/v1/members/{_BUYERS[0]}/redemptions", {"reward": VOUCHER}, key="voucher")
