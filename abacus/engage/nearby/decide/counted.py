"""What is on offer in some regions, as it is counted, kept and written for other processes. Pure."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import orjson

from abacus.engage.nearby.decide.here import OnOffer
from abacus.platform.reading.types import Codec


class Counted(NamedTuple):
    """What is on offer in some regions, and the tags of all that it follows from. The oldest part of it was computed
    `age_s` before it was counted.
    """

    on_offer: OnOffer
    tags: Collection[str]
    age_s: float


def _written(counted: Counted) -> str:
    return orjson.dumps({**counted.on_offer._asdict(), "tags": sorted(counted.tags), "age_s": counted.age_s}).decode()


def _read(text: str) -> Counted:
    written: dict[str, Any] = orjson.loads(text)
    tags, age_s = written.pop("tags"), written.pop("age_s")
    written |= {name: tuple([(of, places) for of, places in written[name]]) for name in ("categories", "brands")}
    return Counted(OnOffer(**written), tags, age_s)


WRITTEN: Final = Codec(_written, _read)
