"""What the settings say of the ports of a process."""

from abacus.api.http.limits import HttpLimits
from abacus.platform.settings import Settings


def http_limits(settings: Settings) -> HttpLimits:
    """For every port of this process."""
    return HttpLimits(
        head_bytes=settings.api_head_bytes,
        head_s=settings.api_head_seconds,
        body_s=settings.api_body_seconds,
        idle_s=settings.api_idle_seconds,
        connections=settings.api_connections,
        connections_per_address=settings.api_connections_per_address,
    )
