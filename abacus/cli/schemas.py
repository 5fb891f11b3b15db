"""The JSON Schemas of all messages, written to docs/schemas: `python -m abacus.cli.schemas`, or `--check` in CI."""

import json
import sys
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from abacus.engage.notify.decide.message import MemberNotification
from abacus.intake.earning.decide.source_message import RetryEnvelope
from abacus.intake.earning.decide.transaction_message import TRANSACTION
from abacus.intake.partners.webhooks.decide.body import AwardPosted, AwardRejected, ExchangeChanged, WebhookTrial
from abacus.ledger.types.award_envelope import AwardMessage
from abacus.ledger.types.point_event import PointEvent
from abacus.ledger.types.reversal_message import ReversalMessage
from abacus.platform.sqs.compressed_envelope import CompressedEnvelope
from abacus.pricing.explanation import schema as explanation
from abacus.programs.expiry.decide.envelope import ExpiryMessage
from abacus.programs.tiers.decide.events import TierChanged
from abacus.proof.decide.proof import Proof
from abacus.proof.decide.seal_event import LedgerSealed
from abacus.signals.events.decide.message import EventMessage
from abacus.signals.places.decide.position import PositionMessage


class AwardEnvelope(TypedDict):
    """The body of a message on the award queue: awards, and what refunds take back."""

    v: Literal[1]
    awards: list[AwardMessage | ReversalMessage]


FOLDER: Final = Path("docs/schemas")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_MESSAGES: Final[dict[str, tuple[str, TypeAdapter[Any]]]] = {
    "transaction.v1": ("A message on the transactions topic; its key is member_id", TRANSACTION),
    "award-envelope.v1": ("The body of a message on the award queue", TypeAdapter(AwardEnvelope)),
    "award-envelope.v2": (
        "The body of a message on the award queue, compressed: award-envelope.v1.json within",
        TypeAdapter(CompressedEnvelope),
    ),
    "retry-envelope.v1": ("The body of a message on the retry queue", TypeAdapter(RetryEnvelope)),
    "expiry-envelope.v1": ("The body of a message on the expiry queue", TypeAdapter(ExpiryMessage)),
    "webhook.v1": ("The body of a webhook", TypeAdapter(AwardPosted | AwardRejected | ExchangeChanged | WebhookTrial)),
    "notification.v1": ("What the channels sns and webhook carry", TypeAdapter(MemberNotification)),
    "point-event.v1": ("A message on the points topic; its key is member_id", TypeAdapter(PointEvent)),
    "ledger-sealed.v1": (
        "A message on the points topic that no member's is; its key is abacus",
        TypeAdapter(LedgerSealed),
    ),
    "proof.v1": ("What `abacus ledger prove` writes", TypeAdapter(Proof)),
    "event.v1": ("A message on the events topic; its key is member_id, or else id", TypeAdapter(EventMessage)),
    "position.v1": ("A message on the topic of positions; its key is member_id", TypeAdapter(PositionMessage)),
    "tier-event.v1": ("A message on the tiers topic; its key is member_id", TypeAdapter(TierChanged)),
}


def schemas() -> dict[str, str]:
    """The text of each schema by its file's name."""
    texts: dict[str, str] = {}
    documents = {name: (title, adapter.json_schema()) for name, (title, adapter) in _MESSAGES.items()}
    documents[explanation.NAME] = ("Why a transfer has its points", explanation.schema())
    for name, (title, document) in documents.items():
        text = json.dumps({"$schema": _DIALECT, **document, "title": title}, indent=2, ensure_ascii=False)
        texts[f"{name}.json"] = f"{text}\n"
    return texts


def drifted(folder: Path) -> list[str]:
    """The files in the folder that differ from the code or belong to no message, and the files that are missing."""
    wanted = schemas()
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | written.keys() if wanted.get(name) != written.get(name))


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        names = drifted(FOLDER)
        if names:
            sys.stderr.write(f"{', '.join(names)} drifted; run `python -m abacus.cli.schemas` and commit {FOLDER}\n")
        return 1 if names else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
