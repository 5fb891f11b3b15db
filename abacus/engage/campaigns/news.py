"""What members are told by campaigns."""

from collections.abc import Mapping

from abacus.engage.actions.types import DueAction
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import Campaigned, CampaignWords


def campaign_news(action: DueAction, key: str, country: str, words: Mapping[str, Words]) -> Campaigned:
    said = {locale: CampaignWords(**each._asdict()) for locale, each in words.items()}
    return Campaigned(campaign=action.owner, key=key, country=country, words=said)
