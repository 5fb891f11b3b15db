"""The modules between receiving a message and committing that it is done, and what is done at each of their sites.

The first rule that fits names the stage. Pure, but for reading the sources.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tests.chaos.crashes.site import Kind, Site, sites_in


class Stage(StrEnum):
    """What a worker is doing, in about the order of a message's way."""

    RECEIVE = "receive"
    HEARTBEAT = "heartbeat"
    DECIDE = "decide"
    SEND = "award send"
    RETRY = "retry send"
    QUARANTINE = "quarantine write"
    BEGIN = "begin"
    CLAIM = "claim"
    LOCK = "lock"
    INSERT = "insert"
    COMMIT = "commit"
    DELETE = "delete"
    PRODUCE = "produce"
    CURSOR = "cursor"
    OFFSET_COMMIT = "offset commit"
    HANDLE = "handle"  # the frames around all that
    WAIT = "wait"
    JOIN = "join and leave"


class _Rule(NamedTuple):
    """The stage of the sites in a module whose function and text are like these, of that kind if one is named."""

    module: str
    function: str
    text: str
    stage: Stage
    kind: Kind | None = None

    def fits(self, site: Site) -> bool:
        return (
            self.module == site.module
            and (self.kind is None or self.kind is site.kind)
            and fnmatchcase(site.function, self.function)
            and fnmatchcase(site.text, self.text)
        )


_RULES: Final = (
    _Rule("abacus.earning.calculator", "*", "*.decide(*", Stage.DECIDE),
    _Rule("abacus.earning.calculator", "*", "until_available(*probe*", Stage.WAIT),
    _Rule("abacus.earning.calculator", "*", "*", Stage.HANDLE),
    _Rule("abacus.earning.issuing", "*hand_over", "*retry_queue*", Stage.RETRY),
    _Rule("abacus.earning.issuing", "*hand_over", "*award_queue*", Stage.SEND),
    _Rule("abacus.earning.issuing", "*hand_over", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.earning.issuing", "*_send*", "*", Stage.SEND),
    _Rule("abacus.earning.issuing", "*", "*", Stage.DECIDE),
    _Rule("abacus.earning.retrier", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.earning.retrier", "*", "*hand_over*", Stage.HANDLE),
    _Rule("abacus.earning.retrier", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.awarder", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.ledger.awarder", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.halving", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.post", "*", "claimed(*", Stage.CLAIM),
    _Rule("abacus.ledger.post", "*", "lock_*", Stage.LOCK),
    _Rule("abacus.ledger.post", "*", "write*", Stage.INSERT),
    _Rule("abacus.ledger.post", "*", "with_modes_changed*", Stage.DECIDE),
    _Rule("abacus.ledger.post", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.move", "*", "claimed(*", Stage.CLAIM),
    _Rule("abacus.ledger.move", "*", "lock_*", Stage.LOCK),
    _Rule("abacus.ledger.move", "*_move", "_books(*", Stage.DECIDE),
    _Rule("abacus.ledger.move", "*_move", "*", Stage.INSERT),
    _Rule("abacus.ledger.move", "*.move", "*", Stage.HANDLE),
    _Rule("abacus.ledger.move", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.history", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.read", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.standing", "lock_standing", "*", Stage.LOCK),
    _Rule("abacus.ledger.standing", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.rows", "in_a_transaction", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.ledger.rows", "in_a_transaction", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.ledger.rows", "in_a_transaction", "*", Stage.HANDLE),
    _Rule("abacus.ledger.rows", "claimed", "*", Stage.CLAIM),
    _Rule("abacus.ledger.rows", "_claim", "*", Stage.CLAIM),
    _Rule("abacus.ledger.rows", "write", "_claim(*", Stage.CLAIM),
    _Rule("abacus.ledger.rows", "lock_accounts", "*", Stage.LOCK),
    _Rule("abacus.ledger.rows", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.relay", "*publish_next", "*publisher.publish(*", Stage.PRODUCE),
    _Rule("abacus.ledger.relay", "*publish_next", "connection.execute(_MOVE*", Stage.CURSOR),
    _Rule("abacus.ledger.relay", "*publish_next", "_position(*", Stage.CURSOR),
    _Rule("abacus.ledger.relay", "*publish_next", "*", Stage.RECEIVE),
    _Rule("abacus.ledger.relay", "_position", "*", Stage.CURSOR),
    _Rule("abacus.ledger.relay", "*_lead", "*publish_next*", Stage.HANDLE),
    _Rule("abacus.ledger.relay", "*_lead", "*_sleep*", Stage.WAIT),
    _Rule("abacus.ledger.relay", "_sleep", "*", Stage.WAIT),
    _Rule("abacus.ledger.relay", "*", "*", Stage.JOIN),
    _Rule("abacus.queues.sqs", "*.send", "*", Stage.SEND),
    _Rule("abacus.queues.sqs", "*._send_call", "*", Stage.SEND),
    _Rule("abacus.queues.sqs", "*.receive", "*", Stage.RECEIVE),
    _Rule("abacus.queues.sqs", "*.delete", "*", Stage.DELETE),
    _Rule("abacus.queues.sqs", "*.keep", "*", Stage.HEARTBEAT),
    _Rule("abacus.queues.sqs", "*", "*", Stage.JOIN),
    _Rule("abacus.queues.consumer", "*_work", "*delete*", Stage.DELETE),
    _Rule("abacus.queues.consumer", "*_work", "*_kept*", Stage.HEARTBEAT),
    _Rule("abacus.queues.consumer", "*_beat", "*", Stage.HEARTBEAT),
    _Rule("abacus.queues.consumer", "*_kept", "*", Stage.HEARTBEAT),
    _Rule("abacus.queues.consumer", "*_receive", "*", Stage.RECEIVE),
    _Rule("abacus.queues.consumer", "*_hand", "*_receive*", Stage.RECEIVE),
    _Rule("abacus.queues.consumer", "*", "*", Stage.HANDLE),
    _Rule("abacus.quarantine.store", "*.add", "*", Stage.QUARANTINE),
    _Rule("abacus.rates.cache", "*", "*", Stage.DECIDE),
    _Rule("abacus.tiers.store", "*", "*", Stage.DECIDE),
    _Rule("abacus.streams.reader", "*.run", "*_next*", Stage.RECEIVE),
    _Rule("abacus.streams.reader", "*.run", "*_check_contact*", Stage.RECEIVE),
    _Rule("abacus.streams.reader", "*.run", "*_commit*", Stage.OFFSET_COMMIT),
    _Rule("abacus.streams.reader", "*.run", "*_joined*", Stage.JOIN),
    _Rule("abacus.streams.reader", "*.run", "*", Stage.HANDLE),
    _Rule("abacus.streams.reader", "*_commit*", "*", Stage.OFFSET_COMMIT),
    _Rule("abacus.streams.reader", "*_next", "*", Stage.RECEIVE),
    _Rule("abacus.streams.reader", "*_check_contact", "*", Stage.RECEIVE),
    _Rule("abacus.streams.reader", "*_deal_with", "*", Stage.HANDLE),
    _Rule("abacus.streams.reader", "*_wait_paused", "*", Stage.WAIT),
    _Rule("abacus.streams.reader", "*", "*", Stage.JOIN),
    _Rule("abacus.streams.publisher", "*.publish", "*_started*", Stage.JOIN),
    _Rule("abacus.streams.publisher", "*.publish", "*", Stage.PRODUCE),
    _Rule("abacus.streams.publisher", "*._send", "*", Stage.PRODUCE),
    _Rule("abacus.streams.publisher", "*._within", "*timeout*", Stage.PRODUCE),
    _Rule("abacus.streams.publisher", "*", "*", Stage.JOIN),
    _Rule("abacus.expiry.expirer", "*_post", "claimed(*", Stage.CLAIM),
    _Rule("abacus.expiry.expirer", "*_post", "lock_accounts*", Stage.LOCK),
    _Rule("abacus.expiry.expirer", "*_post", "*_TAKE*", Stage.LOCK),
    _Rule("abacus.expiry.expirer", "*_post", "write(*", Stage.INSERT),
    _Rule("abacus.expiry.expirer", "*_post", "*_DONE*", Stage.INSERT),
    _Rule("abacus.expiry.expirer", "*_post", "*", Stage.DECIDE),
    _Rule("abacus.expiry.expirer", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.expiry.expirer", "*", "*", Stage.HANDLE),
    _Rule("abacus.patience", "*", "*", Stage.WAIT),
)

PATH: Final = tuple(dict.fromkeys(rule.module for rule in _RULES))

# Of these modules only a part is on the way; the rest are commands of an operator, and questions of the API.
_ONLY: Final[Mapping[str, Sequence[str]]] = {
    "abacus.ledger.read": ("LedgerReader.claims_of",),
    "abacus.ledger.relay": ("Relay.*", "_position", "_sleep"),
    "abacus.quarantine.store": ("QuarantineStore.add",),
    "abacus.queues.sqs": tuple(f"SqsQueue.{name}" for name in ("send", "_send_call", "receive", "delete", "keep")),
    "abacus.rates.cache": ("CardReader.look_again", "CardReader._read", "CardReader._loaded"),
    "abacus.tiers.store": ("MembershipStore.tiers_of",),
}


def stage_of(site: Site) -> Stage:
    """Raises `LookupError` for a site that no rule fits."""
    for rule in _RULES:
        if rule.fits(site):
            return rule.stage
    raise LookupError(f"no stage for {site.name}: {site.text}")


def sites_of(modules: Sequence[str] = PATH) -> list[Site]:
    """What is awaited on the way of a message, module by module."""
    found: list[Site] = []
    for module in modules:
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        found += sites_in(module, Path(spec.origin).read_text(encoding="utf-8"))
    return [site for site in found if _is_on(site)]


def _is_on(site: Site) -> bool:
    return any(fnmatchcase(site.function, function) for function in _ONLY.get(site.module, ("*",)))
