"""Work in a process for the occasion: what it makes comes back, and what it refuses."""

import os
import signal

import pytest

from abacus.core.errors import Unavailable
from abacus.core.fields import DocumentFaults
from abacus.platform.one_process import in_a_process
from abacus.signals.places.decide.country_map import maps_of
from abacus.signals.places.decide.region_file import Usual
from abacus.signals.places.region_desk import read_drawn, silent

pytestmark = [pytest.mark.once, pytest.mark.long]


async def test_what_is_made_or_refused_comes_back() -> None:
    assert await in_a_process(os.getpid) != os.getpid()
    usual = Usual("SG", maps_of([], {"SG": "Asia/Singapore"}), {})
    with pytest.raises(DocumentFaults, match="file: not JSON"):
        await in_a_process(read_drawn, b"{", usual, silent)


async def test_a_process_that_was_ended_is_told() -> None:
    with pytest.raises(Unavailable, match="ended from outside"):
        await in_a_process(_end)


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
