"""A request of a partner, as it is noted."""

from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple
from uuid import UUID


class Noted(NamedTuple):
    """A request and its answer. `path` is the pattern of the path, without what stood in it; `mode` tells live keys
    from test keys; of a refusal, `problem` is its type and `detail` what the partner was told.
    """

    partner_id: str
    at: datetime
    noted_id: UUID
    request_id: str
    mode: str
    method: str
    path: str
    status: int
    took_s: float
    problem: str | None
    detail: str | None

    @property
    def is_refused(self) -> bool:
        return self.status >= HTTPStatus.BAD_REQUEST


class Earlier(NamedTuple):
    """The place of a request in the list of its partner's, the newest first."""

    at: datetime
    noted_id: UUID
