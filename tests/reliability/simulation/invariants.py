"""The invariants of a run that has come to rest, checked against the oracle and not against the product."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date
from itertools import combinations
from typing import Final, NamedTuple

from abacus.intake.earning.decide.transaction import Completed, Event, read_transaction
from abacus.ledger.decide.chain import chain
from abacus.ledger.types.account import NO_HASH, AccountId
from abacus.ledger.types.point_event import PointEvent
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.proof.decide.recompute import recompute
from tests.reliability.simulation.cards import published_cards
from tests.reliability.simulation.on_postgres import TOPIC
from tests.reliability.simulation.oracle import Earns
from tests.reliability.simulation.places import everything_is_in_one_place
from tests.reliability.simulation.simulation import Finished
from tests.reliability.simulation.strays import NEIGHBOUR, NEIGHBOURS_FINGERPRINT
from tests.reliability.simulation.violation import invariant

_BOOK: Final = CardBook(published_cards())


class Candidate(NamedTuple):
    """One of the messages that ask for the same key."""

    verdict: Earns
    fingerprint: str


Candidates = Mapping[str, list[Candidate]]


def check(run: Finished) -> None:
    """Raises `Violated` for the first invariant that does not hold."""
    candidates = _candidates(run)
    _facts_make_the_fingerprint(candidates)
    _each_key_is_posted_once(run, candidates)
    _posted_as_the_oracle_says(run, candidates)
    for account_id in run.books.accounts:
        _account_is_sound(run, account_id)
    _explanations_hold(run)
    everything_is_in_one_place(run, {key: {each.fingerprint for each in held} for key, held in candidates.items()})
    if run.simulated.parts.relay is not None:
        _everything_is_published_in_order(run)
    _nothing_surprising_happened(run)


def _candidates(run: Finished) -> Candidates:
    candidates: defaultdict[str, list[Candidate]] = defaultdict(list)
    candidates[NEIGHBOUR.key].append(Candidate(NEIGHBOUR, NEIGHBOURS_FINGERPRINT))
    for sent, _ in run.delivered:
        if isinstance(sent.verdict, Earns):
            transaction = read_transaction(sent.message.value)
            assert isinstance(transaction, Completed | Event)
            candidates[sent.verdict.key].append(Candidate(sent.verdict, transaction.fingerprint))
    return candidates


def _facts_make_the_fingerprint(candidates: Candidates) -> None:
    with invariant("facts make the fingerprint") as violated:
        for key, rivals in candidates.items():
            for one, other in combinations(rivals, 2):
                if (one.verdict.facts == other.verdict.facts) != (one.fingerprint == other.fingerprint):
                    violated(f"{key}: {one} and {other}")


def _each_key_is_posted_once(run: Finished, candidates: Candidates) -> None:
    books = run.books
    times = Counter(transfer.key for transfer in books.transfers)
    with invariant("each key is posted once") as violated:
        if twice := {key: number for key, number in times.items() if number > 1}:
            violated(f"more often: {twice}")
        if never := candidates.keys() - times.keys():
            violated(f"never posted: {sorted(never)}")
        if baseless := times.keys() - candidates.keys():
            violated(f"posted for nothing: {sorted(baseless)}")
        claimed = {(claim.key, claim.member_id, claim.program, claim.seq) for claim in books.claims.values()}
        posted = {(each.key, each.member_id, each.program, each.seq) for each in books.transfers}
        if claimed != posted:
            violated(f"claimed and not posted, or the reverse: {sorted(claimed ^ posted)}")


def _posted_as_the_oracle_says(run: Finished, candidates: Candidates) -> None:
    lapses: dict[AccountId, date] = {}
    with invariant("posted as the oracle says") as violated:
        for transfer in run.books.transfers:
            fingerprint = run.books.claims[transfer.key].fingerprint
            verdicts = [each.verdict for each in candidates[transfer.key] if each.fingerprint == fingerprint]
            if not verdicts:
                violated(f"{transfer.key} is posted for facts that nobody sent")
            verdict = verdicts[0]
            if transfer.points not in verdict.points:
                violated(f"{transfer} is worth {sorted(verdict.points)}")
            account = verdict.account
            lapses[account] = max(verdict.expires_on, lapses.get(account, verdict.expires_on))
            posted = (_account_of(transfer), transfer.country, transfer.occurred_at, transfer.expires_on)
            expected = (account, verdict.country, verdict.occurred_at, lapses[account])
            if posted != expected:
                violated(f"{transfer.key} is posted as {posted}, not {expected}")


def _account_is_sound(run: Finished, id_: AccountId) -> None:
    account = run.books.accounts[id_]
    transfers = [transfer for transfer in run.books.transfers if _account_of(transfer) == id_]
    with invariant("accounts are sound") as violated:
        if [each.seq for each in transfers] != list(range(1, account.last_seq + 1)):
            violated(f"{account} has the transfers {[each.seq for each in transfers]}")
        balance, head = 0, NO_HASH
        for transfer in transfers:
            balance += transfer.points
            if transfer.balance_after != balance:
                violated(f"{transfer} follows a balance of {balance - transfer.points}")
            if transfer.hash != chain(head, transfer[:-1]):
                violated(f"the hash of {transfer} does not hold")
            head = transfer.hash
        expected = (balance, balance, head, transfers[-1].expires_on)
        if (account.balance, account.earned_total, account.head_hash, account.expires_on) != expected:
            violated(f"{account} must end with {expected}")


def _explanations_hold(run: Finished) -> None:
    with invariant("explanations hold") as violated:
        for transfer in run.books.transfers:
            if wrong := recompute(transfer, _BOOK):
                violated(f"{transfer.key}: {wrong}")


def _everything_is_published_in_order(run: Finished) -> None:
    posted = {f"{each.member_id}:{each.program}:{each.seq}": each for each in run.books.transfers}
    published: dict[str, bytes] = {}
    with invariant("everything is published in order") as violated:
        for stored in run.simulated.log.messages(TOPIC):
            event = PointEvent.model_validate_json(stored.value)
            if published.setdefault(event.id, stored.value) != stored.value:
                violated(f"{event.id} was published as {published[event.id]!r} and as {stored.value!r}")
            before = f"{event.data.member_id}:{event.data.program}:{event.data.seq - 1}"
            if event.data.seq > 1 and before not in published:
                violated(f"{event.id} was published before {before}")
            transfer = posted[event.id]
            told = (event.data.key, event.data.points, event.data.balance, event.data.expires_on)
            if told != (transfer.key, transfer.points, transfer.balance_after, transfer.expires_on):
                violated(f"{event.id} tells {told}, posted is {transfer}")
        if unpublished := posted.keys() - published.keys():
            violated(f"unpublished: {sorted(unpublished)}")


def _nothing_surprising_happened(run: Finished) -> None:
    with invariant("no surprises") as violated:
        if failed := [entry for entry in run.logs if entry["event"] == "message failed"]:
            violated(f"handlers failed: {failed[:3]}")


def _account_of(transfer: Transfer) -> AccountId:
    return (transfer.member_id, transfer.program)
