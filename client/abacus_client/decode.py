"""Reads the answers. Every function raises `ValueError` for an answer that it cannot read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import httpx

from abacus_client.answers import (
    Award,
    BatchResult,
    Count,
    EventResult,
    KeyCount,
    Lot,
    Member,
    Movement,
    MovementResult,
    Page,
    Pending,
    PositionResult,
    Quote,
    Series,
    Transfer,
)
from abacus_client.reading import Value, read

_ACCEPTED: Final = 202


@dataclass(frozen=True, slots=True)
class _Batch:
    results: tuple[BatchResult, ...]


@dataclass(frozen=True, slots=True)
class _Movements:
    results: tuple[MovementResult, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    results: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class _ManySeries:
    results: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    key: str


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: tuple[_Key, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class _TopKeys:
    keys: tuple[KeyCount, ...]


@dataclass(frozen=True, slots=True)
class _Event:
    key: str


@dataclass(frozen=True, slots=True)
class _Events:
    results: tuple[EventResult, ...]


@dataclass(frozen=True, slots=True)
class _Positions:
    results: tuple[PositionResult, ...]


@dataclass(frozen=True, slots=True)
class _Transfers:
    transfers: tuple[Transfer, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class _Lots:
    lots: tuple[Lot, ...]
    next: str | None


def quote(answer: httpx.Response, _: Sequence[str]) -> Quote:
    return read_answer(Quote, answer)


def award(answer: httpx.Response, keys: Sequence[str]) -> Award:
    return replace(read_answer(Award, answer), replayed=was_replayed(answer), idempotency_key=next(iter(keys), None))


def batch(answer: httpx.Response, _: Sequence[str]) -> list[BatchResult]:
    return [
        replace(
            result,
            award=result.award
            and replace(result.award, replayed=result.outcome == "replayed", idempotency_key=result.idempotency_key),
        )
        for result in read_answer(_Batch, answer).results
    ]


def event(answer: httpx.Response, _: Sequence[str]) -> str:
    return read_answer(_Event, answer).key


def events(answer: httpx.Response, _: Sequence[str]) -> list[EventResult]:
    return list(read_answer(_Events, answer).results)


def positions(answer: httpx.Response, _: Sequence[str]) -> list[PositionResult]:
    return list(read_answer(_Positions, answer).results)


def member(answer: httpx.Response, _: Sequence[str]) -> Member:
    return read_answer(Member, answer)


def transfers(answer: httpx.Response, _: Sequence[str]) -> Page[Transfer]:
    page = read_answer(_Transfers, answer)
    return Page(page.transfers, page.next)


def lots(answer: httpx.Response, _: Sequence[str]) -> Page[Lot]:
    page = read_answer(_Lots, answer)
    return Page(page.lots, page.next)


def counts(answer: httpx.Response, _: Sequence[str]) -> list[Count]:
    return list(read_answer(_Counts, answer).results)


def series(answer: httpx.Response, _: Sequence[str]) -> list[Series]:
    return list(read_answer(_ManySeries, answer).results)


def counter_keys(answer: httpx.Response, _: Sequence[str]) -> Page[str]:
    page = read_answer(_Keys, answer)
    return Page(tuple(each.key for each in page.keys), page.next)


def top_keys(answer: httpx.Response, _: Sequence[str]) -> list[KeyCount]:
    return list(read_answer(_TopKeys, answer).keys)


def movement(answer: httpx.Response, _: Sequence[str]) -> Movement:
    return replace(read_answer(Movement, answer), replayed=was_replayed(answer))


def movements(answer: httpx.Response, _: Sequence[str]) -> list[MovementResult]:
    return [
        replace(
            result,
            movement=result.movement and replace(result.movement, replayed=result.outcome == "replayed"),
        )
        for result in read_answer(_Movements, answer).results
    ]


def large(answer: httpx.Response, keys: Sequence[str]) -> Movement | Pending:
    """The posted movement, or the one that waits for a second person."""
    return read_answer(Pending, answer) if answer.status_code == _ACCEPTED else movement(answer, keys)


def read_answer(kind: type[Value], answer: httpx.Response) -> Value:
    return read(kind, answer.content)


def was_replayed(answer: httpx.Response) -> bool:
    return bool(answer.headers.get("Idempotency-Replayed") == "true")
