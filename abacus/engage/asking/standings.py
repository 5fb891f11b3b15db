"""What is known of a member where it has points."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias

from abacus.engage.asking.types import Standing

# By the program of each account.
Standings: TypeAlias = Mapping[str, Standing]


class AnAccount(Protocol):
    """A member's account, with its tier."""

    @property
    def program(self) -> str: ...
    @property
    def country(self) -> str: ...
    @property
    def tier(self) -> str: ...
    @property
    def balance(self) -> int: ...
    @property
    def available(self) -> int: ...


def standings_of(accounts: Iterable[AnAccount], *, is_open: Callable[[str], bool]) -> Standings:
    """Of the accounts in countries that are open."""
    return {
        each.program: Standing(each.country, each.tier, each.balance, each.available)
        for each in accounts
        if is_open(each.country)
    }
