"""The table of what grows, in docs/operate/growth.md: `python -m abacus.cli.growth_page` writes it, `--check` in CI."""

import sys
from pathlib import Path
from typing import Final

from abacus.oversight.growth.inventory import GROWTH

PAGE: Final = Path("docs/operate/growth.md")
_BEGIN: Final = "<!-- written by `python -m abacus.cli.growth_page` -->\n"
_END: Final = "<!-- end -->"
_HEAD: Final = "| table | grows by | stays | and then, or why |\n|---|---|---|---|\n"


def table() -> str:
    """The rows of each group of tables, under the name of the group."""
    text, group = "", None
    for each in GROWTH:
        if each.group is not group:
            group = each.group
            text += f"\n### {group.capitalize()}\n\n{_HEAD}"
        names = ", ".join(f"`{name}`" for name in each.tables)
        text += f"| {names} | {each.by} | {each.life} | {each.goes} |\n"
    return f"{text}\n"


def written(page: str) -> str:
    """The page with the table as it is now."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} has no place for the table, between {_BEGIN.strip()} and {_END}")
    return before + begin + table() + end + after


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    if "--check" not in arguments:
        PAGE.write_text(written(page), encoding="utf-8")
    elif page != written(page):
        sys.stderr.write(f"{PAGE} drifted; run `python -m abacus.cli.growth_page` and commit it\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
