"""The example in docs/finance-audit/finance.md does what the page says."""

import contextlib
import io
import re
import textwrap

from tests.support.paths import DOCS

PAGE = DOCS / "finance-audit" / "finance.md"


def test_the_page_prints_what_its_program_prints() -> None:
    match = re.search(r"```python\n(.*?)```\n\n((?: {4}[^\n]*\n)+)", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    program, promised = match.groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(PAGE), "exec"), {})  # noqa: S102  # our own page
    assert printed.getvalue() == textwrap.dedent(promised)
