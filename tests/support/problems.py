"""The problem that an answer of the API reports."""

import httpx


def kind(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["request_id"] == answer.headers["x-request-id"]
    return str(problem["type"]).removeprefix("/problems/")
