"""A tier that is set by hand, until it is cleared."""

from collections.abc import Sequence
from typing import Final

from abacus.console.decide.effects import Effect
from abacus.console.decide.form_field import FormField
from abacus.console.decide.reasons import LONGEST, choices, reason_of
from abacus.console.pages.members.addresses import address_of
from abacus.console.pages.members.member_act import Known, MemberAct
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import Prepared
from abacus.console.web.forms import DoneBefore, WrongForm
from abacus.console.web.page import Said, See
from abacus.core.errors import Refused
from abacus.people.types.deed import Deed
from abacus.programs.tiers.store import MembershipStore

_BY_POINTS: Final = "by points"
_CLEAR: Final = ""


async def _fields(call: Call, known: Known) -> Sequence[FormField]:
    accounts = [(each.program, f"{each.program} in {each.country}: {each.tier}") for each in known.accounts]
    cards = [call.premises.card_of(each.country) for each in known.accounts]
    tiers = dict.fromkeys(tier for card in cards if card is not None for tier in card.tiers)
    return (
        FormField("account", "Account", options=accounts),
        FormField("tier", "Tier", options=((_CLEAR, _BY_POINTS), *((each, each) for each in tiers))),
        FormField("reason", "Reason", options=choices("tier")),
        FormField("details", "In your words", hint="It is kept with the change."),
    )


async def _prepare(call: Call, known: Known) -> Prepared:
    typed, account = call.form.shown(), known.account(call.form.get("account"))
    tier, reason = typed.get("tier"), reason_of("tier", typed.get("reason"), typed.get("details"))
    if account is None:
        raise WrongForm(typed.but(account="Choose an account."))
    card = call.premises.card_of(account.country)
    if tier != _CLEAR and (card is None or tier not in card.tiers):
        raise WrongForm(typed.but(tier="The country's card does not price such a tier."))
    if reason is None:
        wrong = "details" if typed.get("reason") else "reason"
        raise WrongForm(typed.but(**{wrong: f"Say why, in at most {LONGEST} characters."}))

    async def does() -> See:
        id_ = (known.member_id, account.program)
        told = {"did": "set" if tier else "clear", "program": account.program, "reason": reason}
        told |= {"tier": tier} if tier else {}
        also = call.once(call.told(Deed.SET_TIERS, f"member:{known.member_id}", country=account.country, **told))
        store, by = MembershipStore(call.premises.pool, call.premises.clock), call.actor.source
        try:
            now = (
                (await store.set(id_, tier, reason=reason, actor=by, also=also)).tier
                if tier
                else await store.clear(id_, reason=reason, actor=by, also=also)
            )
        except DoneBefore:
            now = tier or _BY_POINTS
        except Refused:
            raise WrongForm(typed.but(tier="No tier is set by hand: it goes by points already.")) from None
        return See(address_of(known.member_id), Said(f"It is done: the tier in {account.program} is {now}."))

    until = "It stays until somebody clears it, whatever the points say." if tier else "From now on the points decide."
    return Prepared([Effect("Tier", account.tier, tier or _BY_POINTS)], does, (until, "The balance stays as it is."))


TIER_ACT: Final = MemberAct(
    "tier", "Set the tier", "Gives a tier by hand, or leaves it to the points again.", Deed.SET_TIERS, _fields, _prepare
)
