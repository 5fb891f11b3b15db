"""Repairs moto's SQS for several clients at once. Applied in the server's process only.

moto is made for one test at a time. Measured on moto 5.2.5, on a machine with two cores:

* It loses messages. Deleting rebuilds the queue's list without its lock, so a message that is sent meanwhile
  disappears, and a message deleted meanwhile comes back. With 6 senders and 4 receivers, 10 to 39 of 2,400 messages
  never arrived.
* It is slow on a queue with messages in it. It walks all of them several times per message sent or received and asks
  the time for each, at about 10 µs. Sending, receiving and deleting 450 messages of 24 KB took 34 s.

Each repair stands alone. A repair that no longer fits the installed moto is left out with a line in the log.
"""

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

from moto.sqs import models

_CHANGES_OR_READS_A_QUEUE = (
    "send_message",
    "send_message_batch",
    "receive_message",
    "delete_message",
    "delete_message_batch",
    "change_message_visibility",
    "change_message_visibility_batch",
    "get_queue_attributes",
    "purge_queue",
)


def apply() -> None:
    """Make all repairs that fit."""
    for repair in (_one_request_at_a_time_per_queue, _ask_the_time_plainly, _judge_retention_directly, _remember_names):
        try:
            repair()
        except AttributeError as misfit:
            sys.stderr.write(f"this moto has changed, so it runs without {repair.__name__}: {misfit}\n")


def _one_request_at_a_time_per_queue() -> None:
    """Put each operation under the queue's own lock.

    That lock is a condition over a re-entrant lock, and a long poll waits on it, which lets go of it entirely: a
    waiting receiver holds nobody up, and is woken by the message that it waits for.
    """

    def locked(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def with_lock(backend: Any, queue_name: str, *args: Any, **kwargs: Any) -> Any:
            with backend.get_queue(queue_name)._messages_lock:  # noqa: SLF001  # moto has no other
                return method(backend, queue_name, *args, **kwargs)

        return with_lock

    methods = {name: getattr(models.SQSBackend, name) for name in _CHANGES_OR_READS_A_QUEUE}
    for name, method in methods.items():
        setattr(models.SQSBackend, name, locked(method))


def _ask_the_time_plainly() -> None:
    """moto makes two datetimes and subtracts them to learn the time since the epoch."""
    clocks: dict[str, Callable[[], float]] = {
        "unix_time": time.time,
        "unix_time_millis": lambda: time.time() * 1000.0,
    }
    for name in clocks:
        getattr(models, name)
    for name, clock in clocks.items():
        setattr(models, name, clock)


def _judge_retention_directly() -> None:
    """moto collects all the queue's attributes, counts included, to learn how long one message is kept."""

    def is_kept(backend: Any, queue_name: str, message: Any) -> bool:
        kept_until = message.sent_timestamp / 1000 + backend.get_queue(queue_name).message_retention_period
        return bool(kept_until > time.time())

    name = "is_message_valid_based_on_retention_period"
    getattr(models.SQSBackend, name)
    setattr(models.SQSBackend, name, is_kept)


def _remember_names() -> None:
    """moto turns the same two dozen attribute names into its own spelling for each message sent."""
    name = "camelcase_to_underscores"
    setattr(models, name, functools.cache(getattr(models, name)))
