"""The arm of a member, by a hash: the same in every visit and every version. Pure."""

from hashlib import blake2b
from typing import Final

from abacus.engage.journeys.decide.node import Arm, Split

_WHOLE: Final = 100


def arm_of(split: Split, journey: str, node: int, member_id: str) -> Arm:
    digest = blake2b(f"{journey}\x1f{node}\x1f{member_id}".encode(), digest_size=8).digest()
    place = int.from_bytes(digest) % _WHOLE
    for arm in split.arms:
        place -= arm.share
        if place < 0:
            return arm
    raise ValueError(f"the shares of node {node} of {journey} make less than {_WHOLE}")
