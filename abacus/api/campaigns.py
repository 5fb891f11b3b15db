"""The routes by which people see campaigns and what they have done, submit them, and pause, resume and end them."""

from typing import Final

from fastapi import Request
from starlette.responses import Response

from abacus.api.answer_examples import CAMPAIGN_DOCUMENT
from abacus.api.answers import json_answer
from abacus.api.auth import person_of
from abacus.api.document_routes import DocumentRoutes, Name
from abacus.api.route_description import answered
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.campaigns.report import report_document

_ROUTES: Final = DocumentRoutes(
    CAMPAIGNS,
    CampaignDesk,
    manual="docs/country-teams/campaigns.md",
    example=CAMPAIGN_DOCUMENT,
    wrong_state="campaign-state",
)

router = _ROUTES.router()


@router.get(
    "/campaigns/{name}/report",
    summary="What a campaign has done",
    responses=answered({200: (None, "By day, arm and outcome, and its limits")}, 404, 422),
)
async def report(name: Name, request: Request) -> Response:
    """What came of the events that the campaign answered to, what is done and waits, and what is used of its limits."""
    call = person_of(request)
    desk, record = call.rooms[CampaignDesk], (await _ROUTES.history(call, name))[-1]
    return json_answer(report_document(record, await desk.report(record.document), desk.now()))
