"""The movements of an exchange's points, and the award of what comes in. Pure.

Each has a key of its own and is posted once, however often it is asked for. The hold has the exchange's id.
"""

from datetime import datetime

from abacus.core.ids import fingerprint
from abacus.core.sources import exchange_source
from abacus.exchanges.decide.exchange import Exchange, State, award_key, ledger_key
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Because, Capture, Exchanged, Movement, Release, Reserve, Reversal
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import ExchangedIn
from abacus.programs.expiry.decide.month import last_good_day


def hold_of(each: Exchange) -> Reserve:
    """Without an end: only the exchange settles it."""
    return Reserve(
        key=ledger_key(each.exchange_id, "hold"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=_facts("hold", each, str(each.points), str(each.fee)),
        points=each.points + each.fee,
        reason=f"exchange {_label(each)}",
        actor=each.actor,
        source=exchange_source(each.programme),
        hold_id=each.exchange_id,
        until=None,
    )


def settling(each: Exchange, unit: str, card: PublishedCard, now: datetime) -> Movement:
    """What its state asks of the ledger: capture, release, or give back with the days that the points had."""
    match each.state:
        case State.CREDITED:
            return _capture_of(each, unit)
        case State.REJECTED | State.CANCELLED:
            return _release_of(each)
        case _:
            return _reversal_of(each, card, now)


def award_of(each: Exchange, unit: str, card: PublishedCard) -> Award:
    """For the award queue. It is activity of the member, as a transaction is."""
    key, of, at = award_key(each.partner, each.reference or ""), card.card, each.sent_at or each.changed_at
    why = ExchangedIn(
        exchange=str(each.exchange_id),
        programme=_label(each),
        partner=each.partner,
        theirs=each.theirs,
        unit=unit,
        card=card.name,
        points=each.points,
    )
    return Award(
        key=key,
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        kind=TransferKind.EXCHANGE_IN,
        points=each.points,
        occurred_at=at,
        expires_on=last_good_day(at, of.zone, of.expiry_months),
        activity=True,
        fingerprint=fingerprint((key, each.member_id, str(each.points))),
        explanation=text_of(why),
        source=exchange_source(each.programme),
        lifetime=of.expiry is Expiry.LIFETIME,
    )


def _capture_of(each: Exchange, unit: str) -> Capture:
    return Capture(
        key=ledger_key(each.exchange_id, "capture"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=_facts("capture", each),
        points=None,
        actor=each.actor,
        source=exchange_source(each.programme),
        hold_id=each.exchange_id,
        exchanged=Exchanged(each.exchange_id, _label(each), each.partner, each.theirs, unit, each.fee),
    )


def _release_of(each: Exchange) -> Release:
    return Release(
        key=ledger_key(each.exchange_id, "release"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=_facts("release", each),
        actor=each.actor,
        source=exchange_source(each.programme),
        hold_id=each.exchange_id,
        because=Because.RELEASED,
    )


def _reversal_of(each: Exchange, card: PublishedCard, now: datetime) -> Reversal:
    of = card.card
    return Reversal(
        key=ledger_key(each.exchange_id, "reverse"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=_facts("reverse", each),
        reverses=ledger_key(each.exchange_id, "capture"),
        part=None,
        on_shortfall=of.on_shortfall,
        card=card.name,
        reason=f"exchange {_label(each)} reversed",
        actor=each.actor,
        source=exchange_source(each.programme),
        occurred_at=now,
        expires_on=last_good_day(now, of.zone, of.expiry_months),
        lifetime=of.expiry is Expiry.LIFETIME,
    )


def _label(each: Exchange) -> str:
    return f"{each.programme}@{each.version}"


def _facts(act: str, each: Exchange, *more: str) -> str:
    return fingerprint((f"exchange-{act}", str(each.exchange_id), *more))
