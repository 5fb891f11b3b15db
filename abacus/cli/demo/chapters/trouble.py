"""A shop that sends a vertical that no card has, for some days: a quarantine with one cause."""

import json
from datetime import date, timedelta
from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look

_SINCE: Final = timedelta(days=4)
_A_DAY: Final = 9


class Trouble(Chapter):
    """Nobody has looked at it yet."""

    looks = (Look("olga", "/quarantine", "one cause for all that is set aside: a vertical that no card has"),)

    async def day(self, day: date) -> None:
        if self.house.today - day < _SINCE:
            await self.house.send_transactions([self._flowers(day, number) for number in range(_A_DAY)])

    def _flowers(self, day: date, number: int) -> tuple[bytes, bytes]:
        member = f"sg-{1001 + self.house.rng.randrange(90)}"
        transaction = {
            "type": "transaction.completed",
            "source": "mart",
            "transaction_id": f"F-{day:%y%m%d}-{number}",
            "member_id": member,
            "country": "SG",
            "vertical": "flowers",
            "payment_type": "card",
            "amount": f"{self.house.rng.randint(20, 90)}.00",
            "currency": "SGD",
            "occurred_at": self.house.clock.now().isoformat(),
        }
        return member.encode(), json.dumps(transaction).encode()
