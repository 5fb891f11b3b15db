"""Secrets that a log line must not contain."""

import pytest
import structlog

from abacus.platform.logs import configure_logging


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_traceback_tells_no_secrets(log_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(log_format)  # type: ignore[arg-type]  # one of the two
    secret = "abk_live_" + "x" * 30
    try:
        int(secret[:3])
    except ValueError:
        structlog.get_logger("abacus.tests").exception("failed")
    said = capsys.readouterr().err
    assert "ValueError" in said
    assert "failed" in said
    assert "abk_live" not in said
