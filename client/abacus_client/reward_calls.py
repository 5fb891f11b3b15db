"""The calls about rewards, and about what points pay at a till. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID

import httpx

from abacus_client.answers import Page
from abacus_client.calls import ON_PAGE, Call, as_json, checked_key, named, part
from abacus_client.decode import read_answer
from abacus_client.reward_answers import PointQuote, RewardRedemption, Rewards

GivenBack = Literal["cancel", "return"]


@dataclass(frozen=True, slots=True)
class _Redemptions:
    redemptions: tuple[RewardRedemption, ...]
    next: str | None = None


def point_quote(
    member_id: str, points: int | None, money: Decimal | str | None, program: str | None, country: str | None
) -> Call[PointQuote]:
    body = named(member_id=member_id, points=points, money=money, program=program, country=country)
    return Call("POST", "/v1/point-quotes", _point_quote, as_json(body))


def rewards(member_id: str) -> Call[Rewards]:
    return Call("GET", f"/v1/rewards?{urlencode({'member_id': member_id})}", _rewards)


def redeem(
    member_id: str, reward: str, quantity: int, points: int | None, idempotency_key: str | None
) -> Call[RewardRedemption]:
    key = checked_key(idempotency_key)
    body = as_json(named(reward=reward, quantity=quantity, points=points))
    return Call("POST", _path(member_id), _redemption, body, (key,), headers={"Idempotency-Key": key})


def redemptions(member_id: str, cursor: str | None) -> Call[Page[RewardRedemption]]:
    query = urlencode(named(limit=ON_PAGE, cursor=cursor))
    return Call("GET", f"{_path(member_id)}?{query}", _redemptions)


def redemption(member_id: str, redemption_id: UUID | str) -> Call[RewardRedemption]:
    return Call("GET", f"{_path(member_id)}/{part(str(redemption_id))}", _redemption)


def give_back(member_id: str, redemption_id: UUID | str, how: GivenBack) -> Call[RewardRedemption]:
    """The redemption is its own key: it is given back once."""
    return Call("POST", f"{_path(member_id)}/{part(str(redemption_id))}/{how}", _redemption)


def report(
    member_id: str, redemption_id: UUID | str, state: Literal["fulfilled", "failed"], detail: str | None
) -> Call[RewardRedemption]:
    body = as_json(named(state=state, detail=detail))
    return Call("POST", f"{_path(member_id)}/{part(str(redemption_id))}/fulfilment", _redemption, body)


def _path(member_id: str) -> str:
    return f"/v1/members/{part(member_id)}/redemptions"


def _point_quote(answer: httpx.Response, _: Sequence[str]) -> PointQuote:
    return read_answer(PointQuote, answer)


def _rewards(answer: httpx.Response, _: Sequence[str]) -> Rewards:
    return read_answer(Rewards, answer)


def _redemption(answer: httpx.Response, _: Sequence[str]) -> RewardRedemption:
    return read_answer(RewardRedemption, answer)


def _redemptions(answer: httpx.Response, _: Sequence[str]) -> Page[RewardRedemption]:
    page = read_answer(_Redemptions, answer)
    return Page(page.redemptions, page.next)
