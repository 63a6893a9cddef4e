"""The page of rules in the documentation is the one that the rules make."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.report.rules import fence
from helpers import cli

PAGE = Path(__file__).parents[2] / "docs/rules.md"


def test_the_page_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "rules", "--format", "markdown")

    assert code == 0
    assert PAGE.read_text("utf-8") == out, "run: example-sanity rules --format markdown > docs/rules.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ls", "```"), ("`a` ``b``", "```"), ("```bash\nls\n```", "````"), ("`````", "``````")],
)
def test_a_fence_is_longer_than_those_inside(text: str, expected: str) -> None:
    assert fence(text) == expected
