"""Numbers of members that were asked for, kept in this process."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import TypeAlias

# Asks for the numbers of members. Members without one are left out.
Ask: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]


class RememberedNumbers:
    """Remembers at most `most` numbers, and as many members without one. Numbers that nobody asked for go first.

    A number never changes until its member is erased. That a member has none is true only until it comes into a
    segment. So the owner calls `forget_absent` when it has read newer segments, and `forget` when members were erased.
    An answer to a question from before that is given, and not remembered.
    """

    def __init__(self, ask: Ask, *, most: int) -> None:
        self._ask = ask
        self._most = most
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._absent: set[str] = set()
        self._forgettings = 0

    def __len__(self) -> int:
        return len(self._numbers) + len(self._absent)

    async def of(self, member_ids: Collection[str]) -> dict[str, int]:
        """The numbers of the members that have one; numbers that are not remembered are asked for together."""
        found: dict[str, int] = {}
        missing: list[str] = []
        for each in member_ids:
            number = self._numbers.get(each)
            if number is not None:
                self._numbers.move_to_end(each)
                found[each] = number
            elif each not in self._absent:
                missing.append(each)
        if missing:
            found |= await self._asked(missing)
        return found

    def forget_absent(self) -> None:
        self._forgettings += 1
        self._absent.clear()

    def forget(self) -> None:
        self.forget_absent()
        self._numbers.clear()

    async def _asked(self, missing: Collection[str]) -> Mapping[str, int]:
        before = self._forgettings
        numbers = await self._ask(missing)
        if before == self._forgettings:
            self._remember(numbers, (each for each in missing if each not in numbers))
        return numbers

    def _remember(self, numbers: Mapping[str, int], absent: Iterable[str]) -> None:
        self._numbers.update(numbers)
        while len(self._numbers) > self._most:
            self._numbers.popitem(last=False)
        self._absent.update(absent)
        if len(self._absent) > self._most:
            self._absent.clear()
