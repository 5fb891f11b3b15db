"""How the reference partner misbehaves: not at all, until somebody asks for it. Pure.

A share is of all requests that it may concern, by a generator with a seed: the same requests meet the same fate.
"""

import random
from datetime import timedelta
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]


class Behaviour(BaseModel):
    """What is asked for, by `PUT /_behave`; what is left out ends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    fails: Share = 0  # 503, and nothing done
    fails_after: Share = 0  # 503, and all done
    cuts: Share = 0  # the connection is cut, and all done
    silent: Share = 0  # no answer until the caller leaves, and all done
    garbled: Share = 0  # answers that are no JSON, and all done
    slow: Share = 0  # of transfers: 202, decided after `slow_s` and told by a callback
    slow_s: Seconds = 1
    delay: Share = 0  # answers that come after up to `delay_s`
    delay_s: Seconds = 1
    duplicates: Share = 0  # callbacks that are sent twice
    bad_signature: Share = 0  # callbacks that are signed with another secret
    skew_s: Annotated[float, Field(ge=-86_400, le=86_400)] = 0  # its clock is ahead by this
    wrong_amount: Share = 0  # answers that tell of one point more than was credited
    wrong_sums: bool = False  # in statements, and in results of files
    unknown_lines: bool = False  # in results of files
    refuses_files: bool = False  # whole ones, of which nothing is done
    misses_lines: Share = 0  # of statements, whose sums are those of the others
    forgets_refusals: bool = False
    forgets_tombstones: bool = False
    credits_again: bool = False  # each time that an id comes
    takes_any_facts: bool = False  # for an id that is known
    takes_any_signature: bool = False


class Fate(NamedTuple):
    """What becomes of one request."""

    fails: bool
    fails_after: bool
    cuts: bool
    silent: bool
    garbled: bool
    slow_s: float | None
    delay_s: float
    wrong_amount: bool


class Fates:
    """Draws what becomes of requests, by the behaviour that is asked for."""

    def __init__(self) -> None:
        self.change(Behaviour())

    def change(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self._rng = random.Random(behaviour.seed)

    def of_request(self, *, is_transfer: bool) -> Fate:
        asked = self.behaviour
        return Fate(
            fails=self._falls(asked.fails),
            fails_after=self._falls(asked.fails_after),
            cuts=self._falls(asked.cuts),
            silent=self._falls(asked.silent),
            garbled=self._falls(asked.garbled),
            slow_s=asked.slow_s if is_transfer and self._falls(asked.slow) else None,
            delay_s=self._rng.uniform(0, asked.delay_s) if self._falls(asked.delay) else 0,
            wrong_amount=self._falls(asked.wrong_amount),
        )

    def doubles(self) -> bool:
        return self._falls(self.behaviour.duplicates)

    def signs_badly(self) -> bool:
        return self._falls(self.behaviour.bad_signature)

    def without_missing(self, lines: list[Any]) -> list[Any]:
        return [line for line in lines if not self._falls(self.behaviour.misses_lines)]

    @property
    def skew(self) -> timedelta:
        return timedelta(seconds=self.behaviour.skew_s)

    def _falls(self, share: float) -> bool:
        return share > 0 and self._rng.random() < share
