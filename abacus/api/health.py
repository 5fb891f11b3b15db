"""The endpoints for probes, alive and ready, which any port may have; and metrics, which name partners and are for the
operator's port alone.
"""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from abacus.platform.health import Health, WorkerState
from abacus.platform.metrics import WORKER_STATE


def health_app(health: Health) -> Starlette:
    """The application of the health port."""

    async def metrics(_: Request) -> Response:
        _tell_states(health)
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[*probe_routes(health), Route("/metrics", metrics)])


def probe_routes(health: Health) -> list[BaseRoute]:
    """`/healthz` says that the process lives; `/readyz` whether each worker can work, and else the reason."""

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        ready = health.ready
        content = {"ready": ready, "workers": health.report(), "without": health.missed}
        return JSONResponse(content, status_code=200 if ready else 503)

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def _tell_states(health: Health) -> None:
    for name, worker in health.workers.items():
        for state in WorkerState:
            WORKER_STATE.labels(name, str(state)).set(worker.state is state)
