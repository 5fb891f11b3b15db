"""Logging: one event a line, for people or for machines, always on standard error."""

import logging
import sys
from typing import Any, Final, Literal

import structlog

from abacus.platform.outage_lines import OutageLines

# Local variables hold keys and secrets.
_WITHOUT_LOCALS: Final = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
_PLAIN_TRACEBACK: Final = structlog.dev.plain_traceback


def configure_logging(log_format: Literal["console", "json"], *, level: int = logging.INFO) -> None:
    """Once per process. Libraries that log through `logging` come out the same way."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    rendering: list[Any] = (
        [structlog.processors.ExceptionRenderer(_WITHOUT_LOCALS), structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_PLAIN_TRACEBACK)]
    )
    structlog.configure(
        processors=[OutageLines(), *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("abacus").setLevel(level)
    # They describe every reconnection at length, asyncpg with its traceback; the workers say in one line what they wait
    # for.
    for noisy in ("aiokafka", "botocore", "aiobotocore", "asyncio", "asyncpg"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
