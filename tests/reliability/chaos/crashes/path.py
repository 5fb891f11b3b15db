"""The modules between receiving a message and committing that it is done, and the stage of each of their sites.

The first rule that fits names the stage. Pure, but for reading the sources.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tests.reliability.chaos.crashes.site import Kind, Site, sites_in


class Stage(StrEnum):
    """The stages of a worker's work, in about the order of a message's way."""

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
    NOTICE = "notice"
    CURSOR = "cursor"
    OFFSET_COMMIT = "offset commit"
    HANDLE = "handle"  # the frames around all that
    WAIT = "wait"
    JOIN = "join and leave"


class _Rule(NamedTuple):
    """The stage of a module's sites whose function and text match these patterns; only of one kind if one is named."""

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


_FACTS: Final = ("rounds", "registry", "reach", "members", "segments", "counters")

RULES: Final = (
    _Rule("abacus.intake.earning.calculator", "*", "*.decide(*", Stage.DECIDE),
    _Rule("abacus.intake.earning.calculator", "*", "until_available(*probe*", Stage.WAIT),
    _Rule("abacus.intake.earning.calculator", "*", "*", Stage.HANDLE),
    _Rule("abacus.intake.earning.issuing", "*hand_over", "*retry_queue*", Stage.RETRY),
    _Rule("abacus.intake.earning.issuing", "*hand_over", "*award_queue*", Stage.SEND),
    _Rule("abacus.intake.earning.issuing", "*hand_over", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.intake.earning.issuing", "*_send*", "*", Stage.SEND),
    _Rule("abacus.intake.earning.issuing", "*", "*", Stage.DECIDE),
    _Rule("abacus.intake.earning.deciding", "*", "*", Stage.DECIDE),
    _Rule("abacus.intake.earning.retrier", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.intake.earning.retrier", "*", "*hand_over*", Stage.HANDLE),
    _Rule("abacus.intake.earning.retrier", "*", "*", Stage.DECIDE),
    _Rule("abacus.intake.awarding.awarder", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.intake.awarding.awarder", "*", "*", Stage.HANDLE),
    _Rule("abacus.intake.awarding.door", "*", "*", Stage.DECIDE),
    _Rule("abacus.intake.awarding.isolate_failures", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.store.post", "*", "claimed(*", Stage.CLAIM),
    _Rule("abacus.ledger.store.post", "*", "lock_*", Stage.LOCK),
    _Rule("abacus.ledger.store.post", "*", "write*", Stage.INSERT),
    _Rule("abacus.ledger.store.post", "*", "with_modes_changed*", Stage.DECIDE),
    _Rule("abacus.ledger.store.post", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.store.moves", "*", "claimed(*", Stage.CLAIM),
    _Rule("abacus.ledger.store.moves", "*", "lock_*", Stage.LOCK),
    _Rule("abacus.ledger.store.moves", "*_move", "_books(*", Stage.DECIDE),
    _Rule("abacus.ledger.store.moves", "*_move", "*", Stage.INSERT),
    _Rule("abacus.ledger.store.moves", "*.move", "*", Stage.HANDLE),
    _Rule("abacus.ledger.store.moves", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.store.history", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.store.given_back", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.store.newcomers", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.store.read", "*", "*", Stage.DECIDE),
    _Rule("abacus.ledger.store.allowances", "*lock*", "*", Stage.LOCK),
    _Rule("abacus.ledger.store.allowances", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.store.budgets", "*", "*", Stage.HANDLE),
    _Rule("abacus.ledger.store.partner_awards", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.store.partner_limits", "lock_standing", "*", Stage.LOCK),
    _Rule("abacus.ledger.store.partner_limits", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.store.alone", "*lock*", "*", Stage.LOCK),
    _Rule("abacus.ledger.store.alone", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.store.rows", "in_a_transaction", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.ledger.store.rows", "in_a_transaction", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.ledger.store.rows", "in_a_transaction", "*", Stage.HANDLE),
    _Rule("abacus.ledger.store.rows", "claimed", "*", Stage.CLAIM),
    _Rule("abacus.ledger.store.rows", "_enter", "*", Stage.CLAIM),
    _Rule("abacus.ledger.store.rows", "write", "_enter(*", Stage.CLAIM),
    _Rule("abacus.ledger.store.rows", "lock_accounts", "*", Stage.LOCK),
    _Rule("abacus.ledger.store.rows", "_take_place", "*", Stage.LOCK),
    _Rule("abacus.ledger.store.rows", "*", "*", Stage.INSERT),
    _Rule("abacus.ledger.relay.publish_transfers", "*.next", "*cursor.position(*", Stage.CURSOR),
    _Rule("abacus.ledger.relay.publish_transfers", "*.published", "*", Stage.CURSOR),
    _Rule("abacus.ledger.relay.publish_transfers", "*", "*", Stage.RECEIVE),
    _Rule("abacus.platform.following.cursor", "Walk.*", "*", Stage.RECEIVE),
    _Rule("abacus.platform.following.cursor", "*", "*", Stage.CURSOR),
    _Rule("abacus.platform.following.publishing", "*publish_next", "*publisher.publish(*", Stage.PRODUCE),
    _Rule("abacus.platform.following.publishing", "*publish_next", "*source.published(*", Stage.CURSOR),
    _Rule("abacus.platform.following.publishing", "*", "*", Stage.RECEIVE),
    _Rule("abacus.platform.following.leading", "*_lead", "self.step(*", Stage.HANDLE),
    _Rule("abacus.platform.following.leading", "*_lead", "_pause(*", Stage.WAIT),
    _Rule("abacus.platform.following.leading", "_pause", "*", Stage.WAIT),
    _Rule("abacus.platform.following.leading", "_stand_by", "*", Stage.WAIT),
    _Rule("abacus.platform.following.leading", "*", "*", Stage.JOIN),
    _Rule("abacus.platform.following.lease", "*", "*", Stage.JOIN),
    _Rule("abacus.platform.sqs.queue", "*.send", "*", Stage.SEND),
    _Rule("abacus.platform.sqs.queue", "*._send_call", "*", Stage.SEND),
    _Rule("abacus.platform.sqs.queue", "*.receive", "*", Stage.RECEIVE),
    _Rule("abacus.platform.sqs.queue", "*.delete", "*", Stage.DELETE),
    _Rule("abacus.platform.sqs.queue", "*.keep", "*", Stage.HEARTBEAT),
    _Rule("abacus.platform.sqs.queue", "*", "*", Stage.JOIN),
    _Rule("abacus.platform.sqs.consumer", "*_work", "*delete*", Stage.DELETE),
    _Rule("abacus.platform.sqs.consumer", "*_work", "*_kept*", Stage.HEARTBEAT),
    _Rule("abacus.platform.sqs.consumer", "*_beat", "*", Stage.HEARTBEAT),
    _Rule("abacus.platform.sqs.consumer", "*_kept", "*", Stage.HEARTBEAT),
    _Rule("abacus.platform.sqs.consumer", "*_receive", "*", Stage.RECEIVE),
    _Rule("abacus.platform.sqs.consumer", "*_hand", "*_receive*", Stage.RECEIVE),
    _Rule("abacus.platform.sqs.consumer", "*", "*", Stage.HANDLE),
    _Rule("abacus.platform.quarantine.store", "*.add", "*", Stage.QUARANTINE),
    _Rule("abacus.platform.fresh_copy", "*", "*", Stage.DECIDE),
    _Rule("abacus.pricing.store.reader", "*", "*", Stage.DECIDE),
    _Rule("abacus.programs.tiers.store", "*", "*", Stage.DECIDE),
    _Rule("abacus.platform.kafka.reader", "*run", "*_next*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*run", "*_check_contact*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*run", "*_explain*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*_explain", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "_answered", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.forgotten", "*", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*run", "*_commit*", Stage.OFFSET_COMMIT),
    _Rule("abacus.platform.kafka.reader", "*run", "*_joined*", Stage.JOIN),
    _Rule("abacus.platform.kafka.reader", "*run", "*", Stage.HANDLE),
    _Rule("abacus.platform.kafka.reader", "*_commit*", "*", Stage.OFFSET_COMMIT),
    _Rule("abacus.platform.kafka.reader", "*_next", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*_gather", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*_check_contact", "*", Stage.RECEIVE),
    _Rule("abacus.platform.kafka.reader", "*_deal_with", "*", Stage.HANDLE),
    _Rule("abacus.platform.kafka.reader", "*_wait_paused", "*", Stage.WAIT),
    _Rule("abacus.platform.kafka.reader", "*", "*", Stage.JOIN),
    _Rule("abacus.platform.kafka.publisher", "*.publish", "*_started*", Stage.JOIN),
    _Rule("abacus.platform.kafka.publisher", "*.publish", "*", Stage.PRODUCE),
    _Rule("abacus.platform.kafka.publisher", "*._send", "*", Stage.PRODUCE),
    _Rule("abacus.platform.kafka.publisher", "*._within", "*timeout*", Stage.PRODUCE),
    _Rule("abacus.platform.kafka.publisher", "*", "*", Stage.JOIN),
    _Rule("abacus.programs.expiry.expirer", "*_post", "claimed(*", Stage.CLAIM),
    _Rule("abacus.programs.expiry.expirer", "*_post", "lock_accounts*", Stage.LOCK),
    _Rule("abacus.programs.expiry.expirer", "*_post", "*_TAKE*", Stage.LOCK),
    _Rule("abacus.programs.expiry.expirer", "*_post", "write(*", Stage.INSERT),
    _Rule("abacus.programs.expiry.expirer", "*_post", "*_DONE*", Stage.INSERT),
    _Rule("abacus.programs.expiry.expirer", "*_post", "*", Stage.DECIDE),
    _Rule("abacus.programs.expiry.expirer", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.programs.expiry.expirer", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.campaigns.campaigner", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.engage.campaigns.campaigner", "*", "*_seen*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.seen", "*", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.campaigner", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.campaigns.verdicts", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.engage.campaigns.verdicts", "*", "*evaluate(*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.verdicts", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.campaigns.first_events", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.evaluator", "*", "*", Stage.DECIDE),
    *(_Rule(f"abacus.signals.facts.{name}", "*", "*", Stage.DECIDE) for name in _FACTS),
    _Rule("abacus.engage.downstreams.facts", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.facts", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.guards", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.versions", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.retry_queue", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.engage.campaigns.retry_queue", "*", "*queue.send(*", Stage.RETRY),
    _Rule("abacus.engage.campaigns.retrier", "*", "*quarantine*", Stage.QUARANTINE),
    _Rule("abacus.engage.campaigns.retrier", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.campaigns.effects", "*", "*_CLAIM*", Stage.CLAIM),
    _Rule("abacus.engage.campaigns.effects", "*._decide", "lock_progress(*", Stage.LOCK),
    _Rule("abacus.engage.campaigns.effects", "*._decide", "*_pots.lock(*", Stage.LOCK),
    _Rule("abacus.engage.campaigns.effects", "*._decide", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.effects", "*._write", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.sums", "add_sums", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.effects", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.campaigns.sums", "done_before", "*", Stage.LOCK),
    _Rule("abacus.engage.limits.pot_store", "*.within", "work(*", Stage.HANDLE),
    _Rule("abacus.engage.limits.pot_store", "*.within", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.limits.pot_store", "*.within", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.limits.pot_store", "*._transaction", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.limits.pot_store", "*._transaction", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.limits.pot_store", "*.fill", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.limits.pot_store", "*.fill", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.limits.pot_store", "*", "*_SET_*", Stage.INSERT),
    _Rule("abacus.engage.limits.pot_store", "*", "*", Stage.LOCK),
    _Rule("abacus.engage.campaigns.progress_rows", "write_progress", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.progress_rows", "lock_progress", "*", Stage.LOCK),
    _Rule("abacus.engage.campaigns.progress_rows", "*", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.exhaustion", "*", "*", Stage.INSERT),
    _Rule("abacus.engage.campaigns.campaign_store", "*.move", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.campaigns.campaign_store", "*.move", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.campaigns.campaign_store", "*.move", "*_LOCK*", Stage.LOCK),
    _Rule("abacus.engage.campaigns.campaign_store", "*history", "*", Stage.DECIDE),
    _Rule("abacus.engage.campaigns.campaign_store", "*", "*", Stage.INSERT),
    _Rule("abacus.engage.actions.action_runner", "*.run", "*sleep*", Stage.WAIT),
    _Rule("abacus.engage.actions.action_runner", "*._of_slice", "*_guards*", Stage.DECIDE),
    _Rule("abacus.engage.actions.action_runner", "*._of_slice", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.actions.action_runner", "*._of_slice", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.actions.action_runner", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.actions.receiver_pace", "*", "*", Stage.HANDLE),
    _Rule("abacus.engage.actions.receivers", "to_award_queue*", "*", Stage.SEND),
    _Rule("abacus.engage.actions.receivers", "to_members*", "*", Stage.NOTICE),
    _Rule("abacus.engage.actions.receivers", "to_events*", "*", Stage.PRODUCE),
    _Rule("abacus.engage.actions.action_store", "*.taken", "*", Stage.BEGIN, Kind.ENTER),
    _Rule("abacus.engage.actions.action_store", "*.taken", "*", Stage.COMMIT, Kind.LEAVE),
    _Rule("abacus.engage.actions.action_store", "*.taken", "*", Stage.LOCK),
    _Rule("abacus.engage.actions.action_store", "*", "*", Stage.INSERT),
    _Rule("abacus.engage.notify.notices", "*", "*", Stage.NOTICE),
    _Rule("abacus.platform.patience", "*", "*", Stage.WAIT),
)

PATH: Final = tuple(dict.fromkeys(rule.module for rule in RULES))

# Of these modules only a part is on the way; the rest are commands of an operator, and questions of the API.
_ONLY: Final[Mapping[str, Sequence[str]]] = {
    "abacus.engage.actions.action_store": ("plan", "ActionStore.taken", "ActionStore.end", "ActionStore.put_off"),
    "abacus.engage.campaigns.campaign_store": (
        *("CampaignStore.move", "CampaignStore.history"),
        *("_step", "_set", "_history"),
    ),
    "abacus.engage.limits.pot_store": (
        *("PotStore.within", "PotStore._transaction", "PotStore.fill", "PotStore._fill"),
        *("PotStore.lock*", "PotStore.take*"),
        *("PotStore._lock_slots", "PotStore._lock_pots", "PotStore._open_pots"),
    ),
    "abacus.engage.campaigns.exhaustion": ("CampaignExhaustion.mark*",),
    "abacus.engage.campaigns.seen": ("SeenStore.add",),
    "abacus.engage.notify.notices": ("Notices.enter_beside",),
    "abacus.ledger.store.read": ("LedgerReader.claims_in_reach",),
    "abacus.platform.following.cursor": ("Walk.next", "Cursor.position", "Cursor.move"),
    "abacus.platform.fresh_copy": ("FreshCopy.look_again", "FreshCopy.read_anew", "FreshCopy._read"),
    "abacus.platform.quarantine.store": ("QuarantineStore.add",),
    "abacus.platform.sqs.queue": tuple(
        f"SqsQueue.{name}" for name in ("send", "_send_call", "receive", "delete", "keep")
    ),
    "abacus.programs.tiers.store": ("MembershipStore.tiers_in_reach",),
}


def stage_of(site: Site) -> Stage:
    """Raises `LookupError` for a site that no rule fits."""
    for rule in RULES:
        if rule.fits(site):
            return rule.stage
    raise LookupError(f"no stage for {site.name}: {site.text}")


def sites_of(modules: Sequence[str] = PATH) -> list[Site]:
    """The sites on the way of a message, module by module."""
    sites: list[Site] = []
    for module in modules:
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        sites += sites_in(module, Path(spec.origin).read_text(encoding="utf-8"))
    return [site for site in sites if _is_on(site)]


def _is_on(site: Site) -> bool:
    return any(fnmatchcase(site.function, function) for function in _ONLY.get(site.module, ("*",)))
